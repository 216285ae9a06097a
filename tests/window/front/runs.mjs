// The list of runs and the start of one.
import assert from 'node:assert/strict';
import { callsOf, openScene, RUN, wellBehaved } from './world.mjs';

export default {
  'the arrow keys go from run to run, and the focus lands on the screen that was opened': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'list');
    const rows = page.getByTestId('run-row');
    await rows.first().focus();
    const at = () => page.evaluate(() => document.activeElement.dataset.run ?? document.activeElement.tagName);
    const names = await rows.evaluateAll((all) => all.map((row) => row.dataset.run));
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    assert.equal(await at(), names[2]);
    await page.keyboard.press('ArrowUp');
    assert.equal(await at(), names[1]);
    await page.keyboard.press('End');
    assert.equal(await at(), names.at(-1));
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowUp');
    assert.equal(await at(), names[0]);
    await page.keyboard.press('Enter');
    await page.getByTestId('conversation').waitFor();
    assert.equal(await at(), 'H1');
    // A single letter still works from there, and what is typed into keeps the focus.
    await page.keyboard.press('s');
    assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), 'steer-input');
    wellBehaved(faults);
  },

  'the first start offers the demo, which can be followed to its page': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'empty');
    await page.getByTestId('run-demo').click();
    await page.getByTestId('question').waitFor();
    assert.equal(await page.getByTestId('run-state').getAttribute('data-state'), 'running');
    await page.getByText('demo', { exact: true }).first().waitFor();
    await page.evaluate(() => globalThis.fake.pass('01JF1'));
    await page.getByText('I’ll look at what the library says').waitFor();
    await page.evaluate(() => globalThis.fake.pass('01JF1'));
    await page.getByTestId('tool-card').first().waitFor();
    await page.evaluate(() => globalThis.fake.pass('01JF1'));
    await page.locator('[data-testid=run-state][data-state=accepted]').waitFor();
    await page.getByTestId('artifact-open').click();
    const frame = page.frameLocator('[data-testid=artifact-frame]');
    await frame.getByRole('heading', { level: 1 }).waitFor();
    wellBehaved(faults);
  },

  'what waits for the person stands first, with what it waits for and since when': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'list');
    const first = page.getByTestId('run-row').first();
    await first.waitFor();
    assert.equal(await first.getAttribute('data-state'), 'waiting');
    const words = await first.innerText();
    assert.match(words, /An answer about slack\.post_message/);
    assert.match(words, /4 min/);
    assert.deepEqual(await page.locator('main h2').allInnerTexts(), ['Waiting for you', 'At work', 'Today', 'Yesterday', 'This week', 'Earlier']);
    wellBehaved(faults);
  },

  'the list is searched and filtered, keeps what is looked for, and says when nothing is like that': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'list');
    await page.getByTestId('run-row').first().waitFor();
    const titles = () => page.locator('[data-testid=run-row] .title').allInnerTexts();
    const all = (await titles()).length;
    await page.keyboard.press('/');
    assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), 'search');
    await page.keyboard.type('recall late');
    assert.deepEqual(await titles(), ['How do the five papers on late interaction define recall?']);
    await page.keyboard.press('Escape');
    assert.equal((await titles()).length, all);
    await page.getByTestId('filter-failed').click();
    assert.equal(await page.getByTestId('run-row').count(), 3);
    await page.getByTestId('filter-time').click();
    await page.getByRole('menuitemradio', { name: 'The last day' }).click();
    assert.deepEqual(await titles(), ['Which of our measurements hold for arm64?']);
    await page.getByTestId('run-row').first().focus();
    await page.getByTestId('rail-settings').click();
    await page.getByTestId('rail-runs').click();
    assert.deepEqual(await titles(), ['Which of our measurements hold for arm64?']);
    await page.getByTestId('search').fill('nowhere');
    await page.getByTestId('runs-none').getByText('No run is like that.').waitFor();
    await page.getByTestId('unfilter').click();
    assert.equal((await titles()).length, all);
    wellBehaved(faults);
  },

  'helpers stand with the run that they work for, but for one that waits for the person': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'children');
    const rows = page.getByTestId('run-row');
    await rows.first().waitFor();
    assert.deepEqual(await rows.evaluateAll((all) => all.map((row) => row.dataset.run)), ['01JE7-3', '01JE7']);
    await rows.first().getByText('for Vector indexes for 100 M vectors').waitFor();
    await rows.last().getByText('4 helpers').waitFor();
    await page.getByTestId('search').fill('recall at equal');
    await page.locator('[data-run="01JE7-2"]').waitFor();
    wellBehaved(faults);
  },

  'a question is started with Enter, with its agent and its model': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'list');
    await page.getByTestId('start-model').click();
    await page.getByRole('menuitemradio', { name: 'local/qwen3-32b' }).click();
    const field = page.getByTestId('start-question');
    await field.fill('What holds for arm64?');
    await field.press('Shift+Enter');
    await field.pressSequentially('Cite everything.');
    assert.deepEqual(await callsOf(page, 'startRun'), []);
    await field.press('Enter');
    await page.getByTestId('conversation').waitFor();
    assert.deepEqual(await callsOf(page, 'startRun'), [[{ agent: 'research', question: 'What holds for arm64?\nCite everything.', model: 'local/qwen3-32b' }]]);
    wellBehaved(faults);
  },

  'nothing starts without a question, and the agent’s own model is not overridden': async (world) => {
    const { page } = await openScene(world.context, world.address, 'list');
    const start = page.getByTestId('start-run');
    assert.equal(await start.isDisabled(), true);
    await page.getByTestId('start-question').fill('   ');
    await page.getByTestId('start-question').press('Enter');
    assert.deepEqual(await callsOf(page, 'startRun'), []);
    await page.getByTestId('start-question').fill('Why?');
    await start.click();
    await page.getByTestId('conversation').waitFor();
    assert.equal((await callsOf(page, 'startRun'))[0][0].model, null);
  },

  'a refused start says why and what to do, and keeps the question': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'refusals');
    await page.getByTestId('start-question').fill('What does the archive say?');
    await page.getByTestId('start-run').click();
    await page.getByText('The library folder ~/Papers can’t be read: permission denied.').waitFor();
    await page.getByText('Give yourself the right to read it').waitFor();
    assert.equal(await page.getByTestId('start-question').inputValue(), 'What does the archive say?');
    wellBehaved(faults);
  },

  'an agent with a mistake is listed with its mistake and can’t be picked': async (world) => {
    const { page } = await openScene(world.context, world.address, 'list');
    await page.getByTestId('start-agent').click();
    const broken = page.getByRole('menuitemradio', { name: /triage/ });
    await broken.getByText('line 12: there is no key budgets').waitFor();
    assert.equal(await broken.getAttribute('aria-disabled'), 'true');
  },

  'a list that can’t be read says why and is tried again': async (world) => {
    const { page } = await openScene(world.context, world.address, 'error');
    await page.getByText('belongs to a newer version').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.waitForFunction(() => globalThis.fake.calls.filter(([name]) => name === 'watchRuns').length === 2);
  },

  'a list that is not read yet is not shown as empty': async (world) => {
    const { page } = await openScene(world.context, world.address, 'loading');
    await page.getByTestId('runs-loading').waitFor();
    assert.equal(await page.getByTestId('run-demo').count(), 0);
  },

  'a long list is drawn a page at a time': async (world) => {
    const { page } = await openScene(world.context, world.address, 'many');
    await page.getByTestId('run-row').first().waitFor();
    assert.equal(await page.getByTestId('run-row').count(), 100);
    await page.getByRole('button', { name: 'Show 100 more' }).click();
    assert.equal(await page.getByTestId('run-row').count(), 200);
  },

  'the list follows what runs do': async (world) => {
    const { page } = await openScene(world.context, world.address, 'list', { hash: RUN });
    await page.getByTestId('run-pause').click();
    await page.locator('[data-testid=run-state][data-state=paused]').waitFor();
    await page.keyboard.press('Control+1');
    await page.locator('[data-testid=run-row][data-run="01JE7"][data-state=paused]').waitFor();
  },
};
