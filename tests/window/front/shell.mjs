// Palette, shortcuts, dialogs, and what the backend asks of the window.
import assert from 'node:assert/strict';
import { callsOf, openScene, RUN, wellBehaved } from './world.mjs';

export default {
  'the palette finds a command and a run by the keyboard alone': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'list');
    await page.getByTestId('run-row').first().waitFor();
    await page.keyboard.press('Control+k');
    const palette = page.getByTestId('palette');
    await palette.waitFor();
    await page.keyboard.type('preferen');
    await page.keyboard.press('Enter');
    await page.getByTestId('settings').waitFor();
    await palette.waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await palette.waitFor();
    await page.keyboard.type('arm64');
    await page.keyboard.press('Escape');
    await palette.waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await palette.waitFor();
    await page.keyboard.type('Nothing like it');
    await palette.getByText('Nothing by that name.').waitFor();
    wellBehaved(faults);
  },

  'the sheet names every shortcut, and the letters work': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'accepted', { hash: RUN });
    await page.getByTestId('conversation').waitFor();
    await page.keyboard.press('?');
    const sheet = page.getByTestId('shortcuts');
    for (const words of ['Find a run or a command', 'Say something to the run', 'Open the result', 'Settings']) await sheet.getByText(words).waitFor();
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    await page.keyboard.press('i');
    await page.getByTestId('inspector').waitFor({ state: 'detached' });
    await page.keyboard.press('i');
    await page.keyboard.press('s');
    assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), 'steer-input');
    await page.keyboard.type('io?');
    assert.equal(await page.getByTestId('steer-input').inputValue(), 'io?');
    await page.keyboard.press('Escape');
    await page.keyboard.press('o');
    await page.getByTestId('artifact-frame').waitFor();
    wellBehaved(faults);
  },

  'what ended without a result is asked once more, with its agent and its words': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'failed', { hash: RUN });
    await page.getByTestId('ask-again').click();
    const field = page.getByTestId('start-question');
    await field.waitFor();
    assert.match(await field.inputValue(), /^Compare the three best open-source vector indexes/);
    assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), 'start-question');
    assert.match(await page.getByTestId('start-agent').innerText(), /research/);
    assert.deepEqual(await callsOf(page, 'startRun'), []);
    // It is asked once: whoever comes back later finds an empty field.
    await page.keyboard.press('Escape');
    await page.goto(`${world.address}/?scene=failed#/settings`);
    await page.getByTestId('settings').waitFor();
    await page.getByTestId('rail-runs').click();
    assert.equal(await field.inputValue(), '');
    wellBehaved(faults);
  },

  'arguments, results, code and answers are copied as they are': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'accepted', { hash: RUN });
    const card = page.getByTestId('tool-card').filter({ hasText: 'publish_artifact' }).last();
    await card.locator('button').first().click();
    await card.getByRole('button', { name: 'Copy arguments' }).click();
    const answer = page.getByTestId('answer').filter({ hasText: 'The page is ready' });
    await answer.hover();
    await answer.getByRole('button', { name: 'Copy the answer' }).click();
    const [[first], [second]] = await callsOf(page, 'copyText');
    assert.deepEqual(JSON.parse(first), { query: 'index.html' });
    assert.match(second, /^The page is ready\. The disk graph is the best of the three that \*\*fits one machine\*\*/);
    assert.equal(await page.getByTestId('polite').innerText(), 'Copied.');
    wellBehaved(faults);
  },

  'a message goes by itself, but not from under a hand': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'accepted', { hash: `${RUN}/artifact/index.html` });
    await page.getByTestId('claim').first().waitFor();
    await page.clock.install();
    const toast = page.getByTestId('toast');
    await page.getByTestId('artifact-save').click();
    await toast.hover();
    await page.clock.runFor(60_000);
    assert.equal(await toast.count(), 1);
    await page.mouse.move(10, 10);
    await page.clock.runFor(4_000);
    assert.equal(await toast.count(), 1);
    await page.clock.runFor(2_000);
    assert.equal(await toast.count(), 0);
    wellBehaved(faults);
  },

  'cancelling asks first': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'streaming', { hash: RUN });
    await page.getByTestId('run-menu').click();
    await page.getByRole('menuitem', { name: 'Cancel the run' }).click();
    await page.getByTestId('cancel-dialog').waitFor();
    assert.deepEqual(await callsOf(page, 'cancelRun'), []);
    await page.getByTestId('cancel-confirm').click();
    await page.locator('[data-testid=run-end][data-state=cancelled]').waitFor();
    wellBehaved(faults);
  },

  'quitting says what is at work and offers to finish, pause, stop or stay': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'list');
    await page.getByTestId('run-row').first().waitFor();
    const dialog = page.getByTestId('quit-dialog');
    await page.evaluate(() => globalThis.fake.askToQuit());
    await dialog.getByText('1 run is still at work').waitFor();
    await page.getByTestId('quit-stay').click();
    await dialog.waitFor({ state: 'detached' });
    assert.deepEqual(await callsOf(page, 'quit'), []);
    for (const how of ['finish', 'pause', 'stop']) {
      await page.evaluate(() => globalThis.fake.askToQuit());
      await page.getByTestId(`quit-${how}`).click();
      await dialog.waitFor({ state: 'detached' });
    }
    assert.deepEqual(await callsOf(page, 'quit'), [['finish'], ['pause'], ['stop']]);
    wellBehaved(faults);
  },

  'the backend can open a run, and is told when there is a picture': async (world) => {
    const { page } = await openScene(world.context, world.address, 'list');
    await page.getByTestId('run-row').first().waitFor();
    await page.waitForFunction(() => globalThis.fake.calls.some(([name]) => name === 'windowReady'));
    await page.evaluate(() => globalThis.fake.openRun('01JE8'));
    await page.locator('[data-testid=run-state][data-state=handed_off]').waitFor();
  },

  'a result is told to a screen reader when it is quiet': async (world) => {
    const { page } = await openScene(world.context, world.address, 'streaming', { hash: RUN });
    await page.getByTestId('conversation').waitFor();
    for (let beat = 0; beat < 5; beat += 1) await page.evaluate(() => globalThis.fake.pass('01JE7'));
    await page.locator('[data-testid=run-state][data-state=accepted]').waitFor();
    await page.waitForFunction(() => document.querySelector('[data-testid=polite]').textContent.startsWith('Accepted'));
  },
};
