// The live run: rows, streaming, the rein, long and broken runs.
import assert from 'node:assert/strict';
import { barriers, callsOf, frames, openScene, pass, RUN, wellBehaved } from './world.mjs';

const atEnd = (page) => page.getByTestId('conversation').evaluate((view) => view.scrollHeight - view.scrollTop - view.clientHeight < 4);
const rowsDrawn = (page) => page.locator('[data-testid=conversation] .slot').count();

/** How far the end of the conversation is below the view. */
const below = (page) => page.getByTestId('conversation').evaluate((view) => view.scrollHeight - view.scrollTop - view.clientHeight);

export default {
  'the end that is followed stays in view when what waits below it grows, and when the window changes': async (world) => {
    const { page } = await openScene(world.context, world.address, 'waiting', { hash: RUN });
    await page.getByTestId('approval').waitFor();
    await frames(page);
    assert.ok((await below(page)) <= 1);
    await page.getByTestId('steer-input').fill('One line.\nAnother.\nAnd a third.');
    await frames(page);
    assert.ok((await below(page)) <= 1, `${await below(page)} px below after the field grew`);
    await page.getByTestId('checks-all').last().click();
    await frames(page);
    assert.ok((await below(page)) <= 1, `${await below(page)} px below after the card grew`);
    for (const [width, height] of [[1280, 640], [1000, 900], [820, 600]]) {
      await page.setViewportSize({ width, height });
      await frames(page);
      assert.ok((await below(page)) <= 1, `${await below(page)} px below at ${width} × ${height}`);
    }
    // Heights come to be known in another order each time that a run is opened.
    for (let time = 1; time <= 5; time += 1) {
      const opened = await openScene(world.context, world.address, 'uncertain', { hash: RUN });
      await opened.page.getByTestId('conversation').waitFor();
      await frames(opened.page);
      assert.ok((await below(opened.page)) <= 1, `${await below(opened.page)} px below at the ${time}. time`);
      await opened.page.close();
    }
  },

  'streaming text is shown as it comes, closed at its end, and replaced by the row on disk': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'streaming', { hash: RUN });
    await page.getByTestId('conversation').waitFor();
    await pass(page);
    const provisional = page.getByTestId('provisional');
    await provisional.getByText('candidates and twelve mea').waitFor();
    await pass(page);
    await provisional.locator('code', { hasText: 'hard' }).waitFor();
    assert.doesNotMatch(await provisional.innerText(), /[`*#]/);
    await pass(page);
    await provisional.locator('pre', { hasText: 'Measured on one mach' }).waitFor();
    await frames(page);
    assert.equal(await atEnd(page), true);
    await pass(page);
    await provisional.waitFor({ state: 'detached' });
    await page.getByTestId('answer').last().getByText('Measured on one machine').waitFor();
    wellBehaved(faults);
  },

  'the end stays in view until the person scrolls up, and comes back when asked': async (world) => {
    const { page } = await openScene(world.context, world.address, 'streaming', { hash: RUN });
    const view = page.getByTestId('conversation');
    await view.waitFor();
    await pass(page);
    await page.getByTestId('provisional').waitFor();
    await frames(page);
    assert.equal(await atEnd(page), true);
    await view.hover();
    await page.mouse.wheel(0, -12);
    await page.getByTestId('latest').waitFor();
    await page.mouse.wheel(0, 40);
    await page.getByTestId('latest').waitFor({ state: 'detached' });
    await page.mouse.wheel(0, -300);
    await page.getByTestId('latest').waitFor();
    await frames(page);
    const before = await view.evaluate((element) => element.scrollTop);
    await pass(page);
    await frames(page);
    assert.equal(await view.evaluate((element) => element.scrollTop), before);
    await page.getByTestId('latest').click();
    await frames(page);
    assert.equal(await atEnd(page), true);
  },

  'a reload in the middle of a run shows the same': async (world) => {
    const { page } = await openScene(world.context, world.address, 'waiting', { hash: RUN, height: 2_400 });
    await page.getByTestId('approval').waitFor();
    await frames(page);
    const before = [await page.getByTestId('conversation').innerText(), await page.getByTestId('rein').innerText(), await page.getByTestId('inspector').innerText()];
    await page.reload();
    await page.getByTestId('approval').waitFor();
    await frames(page);
    assert.deepEqual([await page.getByTestId('conversation').innerText(), await page.getByTestId('rein').innerText(), await page.getByTestId('inspector').innerText()], before);
  },

  'an action shows its decision, arguments, result, sources and that its result is untrusted': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'accepted', { hash: RUN, height: 1600 });
    const card = page.getByTestId('tool-card').filter({ hasText: 'disk-based index' });
    await card.getByText('untrusted').waitFor();
    await card.getByText('212 ms').waitFor();
    assert.equal(await card.locator('pre').count(), 0);
    await card.getByRole('button').click();
    await card.getByText('Allowed: its effect is read').waitFor();
    // The passages stand each with its source; what was written stands behind them.
    await card.getByTestId('hits').getByText('Notes from the index bench').waitFor();
    assert.equal(await card.locator('mark', { hasText: 'build' }).count(), 1);
    await card.getByTestId('raw').click();
    await card.locator('pre', { hasText: '"query": "disk-based index 100M build time"' }).waitFor();
    await card.locator('pre', { hasText: '3 passages of 2 documents' }).waitFor();
    await card.getByTestId('hits').getByRole('link', { name: 'S2' }).click();
    await page.locator('[data-testid=sources] li.asked', { hasText: 'Notes from the index bench' }).waitFor();
    wellBehaved(faults);
  },

  'a crash is a splice in the rein and in the conversation, and trouble says what it is': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'spliced', { hash: RUN, height: 1400 });
    await page.getByTestId('splice').getByText('Nothing was repeated').waitFor();
    await page.getByTestId('model-trouble').getByText('Longrein tries again by itself').waitFor();
    await page.getByTestId('notice').waitFor();
    await page.locator('[data-testid=rein] .knot.splice').waitFor();
    await page.locator('[data-testid=tool-card][data-state=failed]').getByText('not found').waitFor();
    // The line has a gap at the splice: it is two strands.
    const strands = await page.locator('[data-testid=rein] path.line').getAttribute('d');
    assert.equal(strands.match(/M/g).length, 2);
    wellBehaved(faults);
  },

  'each kind of tool has a card of its own form': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'cards', { hash: RUN, height: 6_000 });
    const open = async (tool, place = 0) => {
      const card = page.locator(`[data-testid=tool-card][data-tool="${tool}"]`).nth(place);
      await card.locator('> .head').click();
      return card;
    };
    await (await open('exa.search')).getByTestId('offloaded').getByText('results/a41.json', { exact: true }).waitFor();
    const code = await open('run_code');
    await code.getByText('for page in range(1, 15):').waitFor();
    await code.getByTestId('exit').getByText('exit status 0, after 2.1 s').waitFor();
    const planned = await open('update_plan', 1);
    await planned.getByText('was being worked on').waitFor();
    await planned.getByText('new', { exact: true }).waitFor();
    await (await open('pin_note')).getByText('In the place of N2').waitFor();
    await (await open('recall')).getByTestId('recalled').getByText('Rank them for a machine with 128 GB.').waitFor();
    await (await open('write_file')).getByText('<!doctype html>').waitFor();
    const edit = await open('edit_file');
    assert.equal(await edit.locator('.difference .gone').count(), 2);
    assert.equal(await edit.locator('.difference .new').count(), 2);
    const command = await open('run_command');
    await command.getByTestId('terminal').getByText('python3 check.py').waitFor();
    // Colours are the window's own, and nothing else of what was written acts.
    assert.equal(await command.locator('.red').innerText(), 'FAILED');
    assert.doesNotMatch(await command.innerText(), /\u001b/);
    await command.locator('.bad', { hasText: 'exit status 1' }).waitFor();
    const failed = await open('edit_file', 1);
    await failed.locator('pre', { hasText: '0 matches in `memory.csv`' }).waitFor();
    await page.evaluate(() => globalThis.fake.send('01JE7', [{ kind: 'acting', actions: [{ key: [...document.querySelectorAll('[data-testid=tool-card]')].length && globalThis.fake.stories.get('01JE7').rows.at(-1).key, doing: 'second pass', output: '\u001b[32mpass 1\u001b[0m\nlist 14 of 38\n' }] }]));
    await page.getByTestId('live-output').getByText('list 14 of 38').waitFor();
    assert.deepEqual(await barriers(page), []);
    wellBehaved(faults);
  },

  'helpers leave the rein and join it again, stand in a tree, and each is a click away and back': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'children', { hash: RUN, height: 1_000 });
    await page.getByTestId('branch').first().waitFor({ state: 'attached' });
    const branches = await page.getByTestId('branch').evaluateAll((all) => all.map((branch) => branch.dataset.state));
    assert.deepEqual(branches, ['joined', 'joined', 'running', 'waiting']);
    await page.getByTestId('rein').getByText('1 waits · 1 works · 1 back').waitFor();
    const tree = page.getByTestId('helpers-tree');
    await tree.getByText('2 of 4 back').waitFor();
    await tree.locator('[data-run="01JE7-3"]').getByText(/Waiting for you/).waitFor();
    await page.locator('[data-testid=tool-card] [data-testid=helper][data-run="01JE7-3"]').click();
    await page.locator('.run[data-run="01JE7-3"]').waitFor();
    await page.getByTestId('approval').waitFor();
    await page.getByTestId('crumbs').getByText('Vector indexes for 100 M vectors').click();
    await page.locator('.run[data-run="01JE7"]').waitFor();
    await tree.locator('[data-run="01JE7-2"]').click();
    await page.locator('.run[data-run="01JE7-2"]').waitFor();
    await page.keyboard.press('u');
    await page.locator('.run[data-run="01JE7"]').waitFor();
    wellBehaved(faults);
  },

  'eight helpers stand side by side within the rein, wide and narrow': async (world) => {
    for (const width of [1280, 800]) {
      const { page } = await openScene(world.context, world.address, 'crowd', { hash: RUN, width, height: 900 });
      await page.getByTestId('branch').first().waitFor({ state: 'attached' });
      await frames(page);
      const [column, branches, label] = await page.evaluate(() => [
        document.querySelector('.rein-column').getBoundingClientRect().right,
        [...document.querySelectorAll('[data-testid=branch] .ring')].map((ring) => ring.getBoundingClientRect().right),
        document.querySelector('[data-testid=rein] [aria-current] .name').getBoundingClientRect().left,
      ]);
      assert.equal(branches.length, 8);
      assert.ok(Math.max(...branches) < column, `${Math.max(...branches)} of ${column} at ${width}`);
      if (width === 1280) assert.ok(Math.max(...branches) < label);
    }
  },

  'a knot of the rein leads to its row': async (world) => {
    const { page } = await openScene(world.context, world.address, 'huge', { hash: RUN });
    const rein = page.getByTestId('rein');
    await rein.waitFor();
    await rein.evaluate((view) => (view.scrollTop = 0));
    await rein.getByText('update plan 5 items, 0 done').click();
    await page.getByTestId('conversation').getByText('update_plan').waitFor();
    assert.equal(await rein.locator('[aria-current=step]').innerText().then((words) => words.split('\n')[0]), 'Update plan 5 items, 0 done');
  },

  'a run of 5,000 rows opens at its end and draws only what is in view': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'huge', { hash: RUN });
    const view = page.getByTestId('conversation');
    await page.getByText('The model is working').waitFor();
    await frames(page);
    assert.equal(await view.getAttribute('data-rows'), '5000');
    assert.equal(await atEnd(page), true);
    const drawn = await rowsDrawn(page);
    assert.ok(drawn < 60, `${drawn} rows drawn`);
    const knots = await page.locator('[data-testid=rein] li').count();
    assert.ok(knots < 60, `${knots} knots drawn`);
    await view.hover();
    await page.mouse.wheel(0, -100);
    await frames(page);
    for (const share of [0.75, 0.5, 0.25, 0]) {
      await view.evaluate((element, part) => (element.scrollTop = element.scrollHeight * part), share);
      await frames(page);
      assert.ok((await rowsDrawn(page)) < 60);
    }
    await page.getByTestId('question').waitFor();
    wellBehaved(faults);
  },

  'earlier rows are fetched as they come near, and the view keeps its place': async (world) => {
    const { page } = await openScene(world.context, world.address, 'paged', { hash: RUN });
    const view = page.getByTestId('conversation');
    await page.getByText('The model is working').waitFor();
    await frames(page);
    assert.equal(await view.getAttribute('data-rows'), '2000');
    await view.hover();
    await page.mouse.wheel(0, -100);
    await frames(page);
    await view.evaluate((element) => (element.scrollTop = 500));
    await page.waitForFunction(() => document.querySelector('[data-testid=conversation]').dataset.rows === '2500');
    await frames(page);
    assert.ok((await view.evaluate((element) => element.scrollTop)) > 2_000);
    assert.equal((await callsOf(page, 'earlierRows')).length, 1);
  },

  'long words break nowhere and push nothing out of view': async (world) => {
    for (const width of [1280, 960]) {
      const { page, faults } = await openScene(world.context, world.address, 'long', { hash: RUN, width });
      await page.getByTestId('standing').waitFor();
      await frames(page);
      const wide = await page.evaluate(() =>
        [...document.querySelectorAll('main, aside, header, [data-testid=conversation], [data-testid=tool-card], .dock')].filter((element) => element.scrollWidth > element.clientWidth + 1).map((element) => element.className),
      );
      assert.deepEqual(wide, []);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
      await page.getByTestId('tool-card').getByText('failed', { exact: true }).first().waitFor();
      wellBehaved(faults);
    }
  },

  'a run that can’t be read on shows what can be read, and why it stops there': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'unreadable', { hash: RUN });
    await page.getByTestId('standing').getByText('Row 34 of its log is damaged').waitFor();
    assert.ok((await page.getByTestId('tool-card').count()) > 0);
    assert.equal(await page.getByTestId('steer-input').count(), 0);
    wellBehaved(faults);
  },

  'a run that is not there says so and leads back': async (world) => {
    const { page } = await openScene(world.context, world.address, 'error', { hash: RUN });
    await page.getByTestId('run-problem').getByText('There is no run 01JE7').waitFor();
    await page.getByRole('button', { name: 'Back to the runs' }).click();
    await page.getByTestId('start-question').waitFor();
  },

  'a handed-off run says what would make it go on, and goes on': async (world) => {
    const { page } = await openScene(world.context, world.address, 'handed-off', { hash: RUN });
    const end = page.getByTestId('run-end');
    await end.getByText('Start the server at').waitFor();
    await page.locator('[data-testid=rein] .knot.break.waiting').waitFor();
    await end.getByRole('button', { name: 'Resume' }).click();
    await page.locator('[data-testid=run-state][data-state=running]').waitFor();
    assert.deepEqual(await callsOf(page, 'resumeRun'), [['01JE7']]);
    // The break that the handoff left is closed: the line runs through it.
    assert.equal(await page.locator('[data-testid=rein] .knot.break.waiting').count(), 0);
    assert.equal(await page.locator('[data-testid=rein] .knot.break').count(), 1);
  },

  'what is said while it works is handed over, and kept when it can’t be': async (world) => {
    const { page } = await openScene(world.context, world.address, 'streaming', { hash: RUN });
    const field = page.getByTestId('steer-input');
    await field.fill('Leave out the graph in memory.');
    await field.press('Enter');
    await page.getByTestId('question').getByText('Leave out the graph in memory.').waitFor();
    assert.equal(await field.inputValue(), '');
    await page.evaluate(() => (globalThis.fake.sayToRun = () => Promise.reject(new Error('The run has ended.'))));
    await field.fill('And the lists.');
    await field.press('Enter');
    await page.getByTestId('toast').getByText('The run has ended.').waitFor();
    assert.equal(await field.inputValue(), 'And the lists.');
  },

  'a text of the model runs nothing, fetches nothing and leads nowhere in this window': async (world) => {
    const { page } = await openScene(world.context, world.address, 'streaming', { hash: RUN });
    await page.getByTestId('conversation').waitFor();
    const asked = [];
    page.on('request', (request) => asked.push(request.url()));
    const text = '<img src="https://example.org/a.png" onerror="window.hit = 1"> ![p](https://example.org/b.png) <script>window.hit = 2</script> [a link](https://example.org/page) [bad](javascript:window.hit=3)';
    await page.evaluate((words) => globalThis.fake.send('01JE7', [{ kind: 'provisional', text: words, thinking: '' }]), text);
    const answer = page.getByTestId('provisional');
    await answer.getByText('Picture not shown: p').waitFor();
    await answer.getByRole('link', { name: 'a link' }).click();
    await answer.getByText('bad').click();
    assert.deepEqual(await callsOf(page, 'openLink'), [['https://example.org/page']]);
    assert.equal(await page.evaluate(() => globalThis.hit), undefined);
    assert.deepEqual(asked, []);
    assert.match(page.url(), /scene=streaming#\/run\/01JE7$/);
  },
};
