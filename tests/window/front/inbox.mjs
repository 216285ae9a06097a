// What waits for the person, over all runs, answered from one place.
import assert from 'node:assert/strict';
import { callsOf, frames, openScene, wellBehaved } from './world.mjs';

const lines = (page) => page.getByTestId('inbox-line').evaluateAll((all) => all.map((line) => line.dataset.run));
const current = (page) => page.locator('[data-testid=inbox-line][aria-current=true]').getAttribute('data-run');

export default {
  'everything that waits stands in one list, the longest wait first, and what is asked beside it': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'inbox', { hash: '#/runs' });
    await page.getByTestId('rail-inbox').getByText('7').waitFor();
    await page.keyboard.press('Control+2');
    await page.getByTestId('inbox').waitFor();
    assert.deepEqual(await lines(page), ['01JED', '01JEC', '01JEB', '01JEA', '01JE7-3', '01JE9', '01JEE']);
    assert.equal(await current(page), '01JED');
    // A helper says for whom it works.
    await page.locator('[data-run="01JE7-3"]').getByText('for Vector indexes for 100 M vectors').waitFor();
    await page.locator('[data-testid=inbox-line][data-run="01JE9"]').click();
    await page.getByTestId('approval').getByText('slack.post_message').first().waitFor();
    await page.waitForFunction(() => location.hash === '#/waiting/01JE9');
    await page.reload();
    await page.getByTestId('approval').waitFor();
    assert.equal(await current(page), '01JE9');
    wellBehaved(faults);
  },

  'it is gone through by keyboard alone, and an answer leads to the next': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'inbox', { hash: '#/waiting' });
    await page.getByTestId('inbox-line').first().waitFor();
    await page.getByTestId('inbox-line').first().focus();
    for (const run of ['01JEC', '01JEB', '01JEA', '01JE7-3', '01JE9']) {
      await page.keyboard.press('ArrowDown');
      assert.equal(await current(page), run);
    }
    await page.getByTestId('approval').waitFor();
    await frames(page);
    // A bare Enter answers nothing, wherever the focus is.
    await page.keyboard.press('Enter');
    assert.deepEqual(await callsOf(page, 'approveAction'), []);
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    assert.deepEqual(await callsOf(page, 'approveAction'), []);
    await page.keyboard.press('Control+Enter');
    await page.locator('[data-testid=inbox-line][data-run="01JE9"]').waitFor({ state: 'detached' });
    assert.equal((await callsOf(page, 'approveAction')).length, 1);
    assert.equal(await current(page), '01JEE');
    await page.waitForFunction(() => document.activeElement?.dataset.run === '01JEE');
    await page.keyboard.press('ArrowUp');
    assert.equal(await current(page), '01JE7-3');
    await page.getByTestId('approval').getByText('web_fetch').first().waitFor();
    await page.keyboard.press('a');
    await page.keyboard.press('d');
    await page.keyboard.type('Use what the library has.');
    await page.keyboard.press('Enter');
    await page.locator('[data-testid=inbox-line][data-run="01JE7-3"]').waitFor({ state: 'detached' });
    assert.deepEqual((await callsOf(page, 'denyAction')).map(([run, , reason]) => [run, reason]), [['01JE7-3', 'Use what the library has.']]);
    wellBehaved(faults);
  },

  'its run is opened from there, with all that can be done with it': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'inbox', { hash: '#/waiting/01JE9' });
    await page.getByTestId('approval').waitFor();
    await page.getByTestId('inbox-open').click();
    await page.locator('.run[data-run="01JE9"]').waitFor();
    await page.keyboard.press('i');
    await page.getByTestId('inspector').waitFor({ state: 'detached' });
    await page.keyboard.press('t');
    await page.getByTestId('replay').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+2');
    await page.getByTestId('inbox').waitFor();
    wellBehaved(faults);
  },

  'where nothing waits it says what would come here': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'accepted', { hash: '#/waiting' });
    await page.getByTestId('inbox-empty').getByText('Nothing waits for you.').waitFor();
    assert.equal(await page.getByTestId('rail-inbox').innerText(), '');
    const error = await openScene(world.context, world.address, 'error', { hash: '#/waiting' });
    await error.page.getByText('The list of runs can’t be read').waitFor();
    wellBehaved(faults);
  },
};
