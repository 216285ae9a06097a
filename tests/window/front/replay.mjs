// Looking back: the scrubber, the screen as it was, what stood behind it, and forks.
import assert from 'node:assert/strict';
import { callsOf, frames, openScene, RUN, wellBehaved } from './world.mjs';

const at = (page) => page.getByTestId('scrubber').getAttribute('aria-valuenow').then(Number);
/** Waits until the screen shows an event. */
const shows = (page, seq) => page.locator(`[data-testid=replay][data-seq="${seq}"]`).waitFor();
const open = (world, seq, more = {}) => openScene(world.context, world.address, more.scene ?? 'replay', { hash: `${RUN}/replay${seq === null ? '' : `/${seq}`}`, ...more });

export default {
  'a run is looked back at from its screen, and its address keeps the place': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'replay', { hash: RUN });
    await page.getByTestId('run-end').waitFor();
    await page.keyboard.press('t');
    await shows(page, 57);
    await page.keyboard.press('ArrowLeft');
    await shows(page, 56);
    await page.waitForFunction(() => location.hash.endsWith('/replay/56'));
    await page.reload();
    await shows(page, 56);
    await page.keyboard.press('Escape');
    await page.locator('.run[data-run="01JE7"]').waitFor();
    assert.equal(await page.getByTestId('replay').count(), 0);
    wellBehaved(faults);
  },

  'the scrubber goes where a hand or a key sends it, and says where it is': async (world) => {
    const { page, faults } = await open(world, 20);
    await shows(page, 20);
    const scrubber = page.getByTestId('scrubber');
    assert.match(await scrubber.getAttribute('aria-valuetext'), /^Event 20 of 57: The model is asked$/);
    await scrubber.focus();
    for (const [key, seq] of [['ArrowRight', 21], ['ArrowLeft', 20], ['PageUp', 30], ['PageDown', 20], ['Home', 1], ['End', 57]]) {
      await page.keyboard.press(key);
      await shows(page, seq);
    }
    const box = await scrubber.boundingBox();
    await page.mouse.move(box.x + box.width - 12, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2, box.y + 20, { steps: 12 });
    await page.mouse.up();
    await shows(page, 29);
    // A hand that has let go drags no further.
    await page.mouse.move(box.x + 40, box.y + 20);
    await frames(page);
    assert.equal(await at(page), 29);
    wellBehaved(faults);
  },

  'at each point the conversation is as it was, and nothing in it can be done': async (world) => {
    const { page, faults } = await open(world, 41);
    await shows(page, 41);
    const card = page.locator('[data-testid=tool-card][data-tool="slack.post_message"]');
    await card.waitFor();
    assert.equal(await card.getAttribute('data-state'), 'asked');
    assert.equal(await page.locator('[data-testid=replay] [data-testid=approval]').count(), 0);
    assert.equal(await page.getByTestId('undo').count(), 0);
    for (const key of ['p', 'a', 's', 'd', 'r']) await page.keyboard.press(key);
    await page.keyboard.press('ArrowRight');
    await shows(page, 42);
    assert.equal(await card.getAttribute('data-state'), 'succeeded');
    // The end was not known then.
    assert.equal(await page.locator('[data-testid=replay] [data-testid=run-end]').count(), 0);
    const deeds = await page.evaluate(() => globalThis.fake.calls.map(([name]) => name).filter((name) => /^(pause|resume|cancel|say|approve|deny|answer|settle|accept|raise|undo)/.test(name)));
    assert.deepEqual(deeds, []);
    wellBehaved(faults);
  },

  'it plays to the end at its speed, and stops where the person takes it in hand': async (world) => {
    const { page, faults } = await open(world, 1);
    await shows(page, 1);
    await page.getByTestId('speed-16').click();
    await page.getByTestId('replay-play').click();
    await page.locator('[data-testid=replay-play][aria-pressed=true]').waitFor();
    await page.waitForFunction(() => Number(document.querySelector('[data-testid=replay]').dataset.seq) > 6);
    await page.keyboard.press('ArrowLeft');
    await page.locator('[data-testid=replay-play][aria-pressed=false]').waitFor();
    const stood = await at(page);
    await shows(page, stood);
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('Space');
    await shows(page, 57);
    await page.locator('[data-testid=replay-play][aria-pressed=false]').waitFor();
    wellBehaved(faults);
  },

  'one key leads to the next request, another to the next that asked the person': async (world) => {
    const { page, faults } = await open(world, 1);
    await shows(page, 1);
    for (const seq of [5, 20, 29]) {
      await page.keyboard.press('n');
      await shows(page, seq);
    }
    await page.keyboard.press('w');
    await shows(page, 41);
    await page.keyboard.press('w');
    await page.getByTestId('toast').getByText('There is no question to you after this event.').waitFor();
    assert.equal(await at(page), 41);
    wellBehaved(faults);
  },

  'a request is shown by its parts, with whose words they are, against the one before, in its bytes, with its answer': async (world) => {
    const { page, faults } = await open(world, 39, { height: 1_600 });
    const request = page.getByTestId('request').first();
    await page.locator('[data-testid=look][data-tab=request]').waitFor();
    await request.getByRole('heading', { name: 'Request 4' }).waitFor();
    const parts = await page.getByTestId('request-section').evaluateAll((all) => all.map((part) => part.dataset.section));
    assert.deepEqual(parts, ['system', 'tools', 'pinned', 'conversation', 'tail']);
    const found = page.locator('[data-section=conversation] [data-testid=block]', { hasText: 'the tool search_library' }).first();
    await found.getByText('untrusted').waitFor();
    await page.locator('[data-section=system] [data-testid=block]').first().getByText('Read all').click();
    await page.locator('[data-section=system] [data-testid=block] pre').getByText('line after line').waitFor();
    await page.getByTestId('request-changes').click();
    await page.getByTestId('request-dropped').getByText('Step 3 of 80').waitFor();
    await page.getByTestId('request-new').getByText('Step 4 of 80').waitFor();
    await request.locator('[data-testid=request-bytes][role=radio]').click();
    const bytes = request.locator('.pages');
    await bytes.getByText('"role": "system"').waitFor();
    const before = (await bytes.locator('pre').innerText()).length;
    await bytes.getByText(/^Read on/).click();
    await page.waitForFunction((length) => document.querySelector('.pages pre').innerText.length > length, before);
    await request.locator('[data-testid=request-answer][role=radio]').click();
    await request.getByText('It asks for actions').waitFor();
    await request.getByText('3.9k of them from the cache').waitFor();
    wellBehaved(faults);
  },

  'an action shows why it was decided so, how it started, its receipt and its whole result': async (world) => {
    const { page, faults } = await open(world, 42, { height: 1_400 });
    const record = page.getByTestId('action-record');
    await record.getByTestId('decision').getByText('it can’t be taken back, and no rule allows it').first().waitFor();
    assert.equal(await record.locator('[data-testid=check]').count(), 8);
    await record.getByTestId('start').getByText('slack-token').waitFor();
    await record.getByTestId('receipt').getByText('slack.post_message: posted').waitFor();
    await record.getByText('approved with other arguments from the window').waitFor();
    // Another tab stays until what the event is about is chosen again.
    await page.getByTestId('look-files').click();
    await page.keyboard.press('Home');
    await shows(page, 1);
    await page.getByText('No files had been recorded by then.').waitFor();
    await page.keyboard.press('End');
    await shows(page, 57);
    await page.locator('[data-testid=file-then][data-path="index.html"]').click();
    await page.getByTestId('file-text').getByText('Measured on one machine').first().waitFor();
    await page.getByTestId('files-start').click();
    await page.locator('[data-testid=changed-file][data-path="index.html"] .difference .new').first().waitFor();
    await page.getByTestId('files-step').click();
    await page.locator('[data-testid=changed-file][data-path="index.html"] .difference .gone').first().waitFor();
    wellBehaved(faults);
  },

  'a fork begins at the event with what was changed, and goes on with the words that were given': async (world) => {
    const { page, faults } = await open(world, 39);
    await shows(page, 39);
    await page.keyboard.press('f');
    const dialog = page.getByTestId('fork-dialog');
    await dialog.getByText('Fork from event 39').waitFor();
    await page.getByTestId('fork-model').click();
    await page.getByRole('menuitemradio', { name: /demo\/researcher/ }).click();
    await page.getByTestId('fork-words').fill('Leave the lab out of it.');
    // Letters in the dialog are letters.
    assert.equal(await at(page), 39);
    await page.getByTestId('fork-confirm').click();
    await page.locator('.run[data-run="01JF1"]').waitFor();
    assert.deepEqual(await callsOf(page, 'forkRun'), [[{ run: '01JE7', seq: 39, model: 'demo/researcher', agent: null, instructions: null, rules: [], set: [], results: [] }]]);
    await page.waitForFunction(() => globalThis.fake.calls.some(([name]) => name === 'sayToRun'));
    assert.deepEqual(await callsOf(page, 'sayToRun'), [['01JF1', 'Leave the lab out of it.']]);
    wellBehaved(faults);
  },

  'a run of 15,000 events is walked through without reading all of it': async (world) => {
    const { page, faults } = await open(world, 7_000, { scene: 'replay-huge' });
    await shows(page, 7_000);
    await frames(page);
    assert.ok((await page.locator('[data-testid=points] li').count()) < 60);
    assert.ok((await page.locator('[data-testid=scrubber] .knot').count()) < 200);
    assert.ok((await callsOf(page, 'runPoints')).length <= 3);
    // While a hand drags, what it passes too fast is left out.
    const box = await page.getByTestId('scrubber').boundingBox();
    await page.mouse.move(box.x + 20, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 20, box.y + 20, { steps: 40 });
    await page.mouse.up();
    await frames(page);
    await shows(page, await at(page));
    wellBehaved(faults);
  },

  'what can’t be read is said where it would stand, and what can be is shown': async (world) => {
    const failing = await open(world, 40, { scene: 'replay-failing' });
    await failing.page.getByText('Row 34 of its log is damaged').first().waitFor();
    await failing.page.getByTestId('points').getByText('An action is asked for').first().waitFor();
    const missing = await open(world, null, { scene: 'replay-missing' });
    await missing.page.getByText('Nothing of this run can be read').waitFor();
    const silent = await open(world, null, { scene: 'replay-silent' });
    await silent.page.getByTestId('replay-loading').waitFor();
    const before = await open(world, 2);
    await before.page.getByTestId('look-request').click();
    await before.page.getByTestId('request-none').waitFor();
    for (const { faults } of [failing, missing, silent, before]) wellBehaved(faults);
  },
};
