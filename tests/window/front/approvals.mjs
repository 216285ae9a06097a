// The question to a person about one action.
import assert from 'node:assert/strict';
import { callsOf, frames, openScene, RUN, wellBehaved } from './world.mjs';

const SEEN = JSON.stringify({ channel: '#ann-lab', text: 'First comparison is up: 3 indexes, 12 measurements, 6 quotes checked. Draft attached.' }, null, 2);

export default {
  'an approval shows the tool, its effect, every argument, why it was asked and what was read': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'waiting', { hash: RUN });
    const words = await page.getByTestId('approval').innerText();
    for (const part of ['slack.post_message', 'Changes something outside for good', '#ann-lab', 'First comparison is up', 'no rule allows it', 'Untrusted text, from 4 sources']) {
      assert.ok(words.includes(part), part);
    }
    await page.locator('[data-testid=rein] .knot.break.waiting').waitFor();
    // The question takes room from the conversation, whose end is still in view.
    await frames(page);
    assert.equal(await page.getByTestId('latest').count(), 0);
    await page.locator('[data-testid=tool-card][data-state=asked]').waitFor();
    wellBehaved(faults);
  },

  'a screen reader is told at once, and the focus stays where it was': async (world) => {
    const { page } = await openScene(world.context, world.address, 'streaming', { hash: RUN });
    await page.getByTestId('steer-input').fill('half a sen');
    await page.evaluate(() => {
      const story = { key: 'asked', seq: 900, at: 0, step: 3, knot: null, content: { kind: 'action', action: 'a9', tool: 'slack.post_message', brief: 'a message', arguments: '{"text": "hello"}', effect: 'irreversible', state: 'asked', decision: 'No rule allows it.', result: '', outcome: '', error: null, trust: 'trusted', sources: [], latency_ms: null, attempt: 0 } };
      globalThis.fake.send('01JE7', [{ kind: 'change', change: { seq: 900, head: null, rows: [story] } }]);
    });
    await page.getByTestId('approval').waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), 'steer-input');
    assert.match(await page.getByTestId('urgent').innerText(), /Approval needed: slack\.post_message/);
    await page.keyboard.press('Enter');
    assert.deepEqual(await callsOf(page, 'approveAction'), []);
  },

  'the keyboard alone reaches and approves it, but never a bare Enter': async (world) => {
    const { page } = await openScene(world.context, world.address, 'waiting', { hash: RUN });
    await page.getByTestId('approval').waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Control+Enter');
    assert.deepEqual(await callsOf(page, 'approveAction'), []);
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Space');
    assert.deepEqual(await callsOf(page, 'approveAction'), []);
    await page.keyboard.press('Control+Enter');
    await page.getByTestId('approval').waitFor({ state: 'detached' });
    const calls = await callsOf(page, 'approveAction');
    assert.equal(calls.length, 1);
    assert.equal(calls[0][2], SEEN);
    // The break in the line is closed.
    assert.equal(await page.locator('[data-testid=rein] .knot.break.waiting').count(), 0);
  },

  'a denial carries its reason': async (world) => {
    const { page } = await openScene(world.context, world.address, 'waiting', { hash: RUN });
    await page.getByTestId('approval').waitFor();
    await page.keyboard.press('a');
    await page.keyboard.press('d');
    await page.getByTestId('deny-reason').fill('Not before the check.');
    await page.getByTestId('deny-reason').press('Escape');
    assert.equal(await page.getByTestId('deny-reason').count(), 0);
    await page.getByTestId('deny').click();
    await page.getByTestId('deny-reason').fill('Not before the check.');
    await page.getByTestId('deny-confirm').click();
    await page.getByTestId('approval').waitFor({ state: 'detached' });
    assert.equal((await callsOf(page, 'denyAction'))[0][2], 'Not before the check.');
    await page.locator('[data-testid=tool-card][data-state=denied]').waitFor();
  },

  'the second of two answers is told that the first has won': async (world) => {
    const { page } = await openScene(world.context, world.address, 'refusals', { hash: '#/run/01JE9' });
    await page.getByTestId('approve').click();
    await page.getByTestId('toast').getByText('answered in another window').waitFor();
    assert.equal(await page.getByTestId('approve').isEnabled(), true);
  },
};
