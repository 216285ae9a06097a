// The question to a person about one action.
import assert from 'node:assert/strict';
import { callsOf, frames, openScene, RUN, wellBehaved } from './world.mjs';

const SEEN = '5e'.repeat(32);
const OFFERS = [
  '{"tool":"slack.post_message","args":{"channel":"#ann-lab"},"decision":"allow"}',
  '{"tool":"slack.post_message","host":"hooks.example.org","decision":"allow"}',
];

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

  'the check that decided comes first, then those that ask, and all eight are one press away': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'waiting', { hash: RUN });
    const checks = page.getByTestId('approval').getByTestId('check');
    const named = () => checks.evaluateAll((lines) => lines.map((line) => line.dataset.check));
    assert.deepEqual(await named(), ['rules', 'taint']);
    await page.getByTestId('approval').getByTestId('checks-all').click();
    assert.deepEqual(await named(), ['rules', 'taint', 'granted', 'schema', 'effect', 'secrets', 'reach', 'budget']);
    wellBehaved(faults);
  },

  'a screen reader is told at once, and the focus stays where it was': async (world) => {
    const { page } = await openScene(world.context, world.address, 'streaming', { hash: RUN });
    await page.getByTestId('steer-input').fill('half a sen');
    await page.evaluate(() => {
      const story = { key: 'asked', seq: 900, at: 0, step: 3, knot: null, content: { kind: 'action', action: 'a9', tool: 'slack.post_message', by_person: false, undoes: '', child: '', brief: 'a message', arguments: '{"text": "hello"}', hidden_bytes: 0, proposed: '', effect: 'irreversible', state: 'asked', decision: 'No rule allows it.', checks: [], decided_by: null, seen: 'ab', offers: [], review: '', question: null, server_questions: [], said: [], result: '', outcome: '', error: null, trust: 'trusted', sources: [], latency_ms: null, attempt: 0, undo: false, undone: false } };
      globalThis.fake.send('01JE7', [{ kind: 'change', change: { seq: 900, head: null, rows: [story] } }]);
    });
    await page.getByTestId('approval').getByText('No rule allows it.').waitFor();
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
    assert.deepEqual(calls[0][2], { seen: SEEN, edit: null, always: null });
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
    assert.equal(await page.getByTestId('deny-reason').inputValue(), 'Not before the check.');
    await page.getByTestId('deny-confirm').click();
    await page.getByTestId('approval').waitFor({ state: 'detached' });
    assert.equal((await callsOf(page, 'denyAction'))[0][2], 'Not before the check.');
    await page.locator('[data-testid=tool-card][data-state=denied]').waitFor();
  },

  'an edit that does not fit is told in place, loses nothing, and is sent as it was mended': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'waiting', { hash: RUN });
    await page.getByTestId('approval').waitFor();
    await page.keyboard.press('a');
    await page.keyboard.press('e');
    const editor = page.getByTestId('edit-arguments');
    assert.match(await editor.inputValue(), /First comparison is up/);
    await editor.fill('{ "channel": "#ann-lab" }');
    await editor.press('Control+Enter');
    await page.getByTestId('answer-error').getByText('"text" is a required property').waitFor();
    assert.equal(await page.getByTestId('toast').count(), 0);
    assert.equal(await editor.inputValue(), '{ "channel": "#ann-lab" }');
    // Looking at the question, and at another run and back, keeps what was written.
    await editor.press('Escape');
    await page.evaluate(() => (location.hash = '#/runs'));
    await page.getByTestId('runs').waitFor();
    await page.evaluate((hash) => (location.hash = hash), RUN);
    await page.getByTestId('edit').click();
    assert.equal(await editor.inputValue(), '{ "channel": "#ann-lab" }');
    await editor.fill('{ "channel": "#ann-lab", "text": "A draft is up." }');
    await page.getByTestId('approve').click();
    await page.getByTestId('approval').waitFor({ state: 'detached' });
    const sent = (await callsOf(page, 'approveAction')).at(-1)[2];
    assert.deepEqual(sent, { seen: SEEN, edit: '{ "channel": "#ann-lab", "text": "A draft is up." }', always: null });
    wellBehaved(faults);
  },

  '“always” says before it is made exactly what it matches and how far, and makes just that': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'waiting', { hash: RUN });
    await page.getByTestId('approval').waitFor();
    await page.keyboard.press('a');
    await page.keyboard.press('l');
    const preview = page.getByTestId('always-preview');
    await preview.getByText('Allowed without asking, in this run, and nothing else:').waitFor();
    await preview.getByText('only to hooks.example.org').waitFor();
    await preview.getByText('what reaches outside is asked all the same').waitFor();
    // A rule that is put aside is not made; none at all can't be made.
    await preview.getByRole('checkbox').nth(0).uncheck();
    await preview.getByRole('checkbox').nth(1).uncheck();
    assert.equal(await page.getByTestId('approve').isEnabled(), false);
    await preview.getByRole('checkbox').nth(1).check();
    await page.getByTestId('always-tainted').check();
    await preview.getByText('also after untrusted text').waitFor();
    await page.keyboard.press('Control+Enter');
    await page.getByTestId('approval').waitFor({ state: 'detached' });
    assert.deepEqual((await callsOf(page, 'approveAction'))[0][2], { seen: SEEN, edit: null, always: { scope: 'run', rules: [OFFERS[1]], tainted: true } });
    wellBehaved(faults);
  },

  'what holds after untrusted text is for one run only': async (world) => {
    const { page } = await openScene(world.context, world.address, 'waiting', { hash: RUN });
    await page.getByTestId('always').click();
    await page.getByTestId('always-tainted').check();
    await page.getByRole('radio', { name: 'This agent' }).check();
    assert.equal(await page.getByTestId('always-tainted').isEnabled(), false);
    await page.getByTestId('always-preview').getByText('in every run of research').waitFor();
    await page.getByTestId('approve').click();
    await page.getByTestId('approval').waitFor({ state: 'detached' });
    assert.deepEqual((await callsOf(page, 'approveAction'))[0][2].always, { scope: 'agent', rules: OFFERS, tainted: false });
  },

  'nothing is approved before all of its arguments were shown': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'heavy', { hash: RUN });
    const card = page.getByTestId('approval');
    await card.getByText('"id": 59').waitFor();
    assert.equal(await card.getByTestId('always').count(), 0, 'what is unclear has no rule to offer');
    const footer = await page.getByTestId('approve').boundingBox();
    assert.ok(footer.y + footer.height < 800, 'the answer stays in view');
    wellBehaved(faults);
    const silent = await openScene(world.context, world.address, 'heavy-silent', { hash: RUN });
    await silent.page.getByText('Reading all of them').waitFor();
    assert.equal(await silent.page.getByTestId('approve').isEnabled(), false);
    await silent.page.getByTestId('approval').press('Control+Enter');
    assert.deepEqual(await callsOf(silent.page, 'approveAction'), []);
    assert.equal(await silent.page.getByTestId('deny').isEnabled(), true);
  },

  'the second of two answers is told that the first has won, from where and when': async (world) => {
    const { page } = await openScene(world.context, world.address, 'refusals', { hash: '#/run/01JE9' });
    await page.getByTestId('approve').click();
    await page.getByTestId('toast').getByText('answered from the command line 3 min ago: refused').waitFor();
    assert.equal(await page.getByTestId('approve').isEnabled(), true);
  },

  'an answer from somewhere else closes the question and says by whom and when': async (world) => {
    const { page } = await openScene(world.context, world.address, 'waiting', { hash: RUN });
    await page.getByTestId('approval').waitFor();
    const action = await page.evaluate(() => globalThis.fake.stories.get('01JE7').rows.find((row) => row.content.kind === 'action' && row.content.state === 'asked').content.action);
    await page.evaluate((id) => globalThis.fake.answerElsewhere('01JE7', id, 'refused', 'command'), action);
    await page.getByTestId('approval').waitFor({ state: 'detached' });
    await page.getByTestId('toast').getByText('slack.post_message: refused from the command line at 19:36').waitFor();
    assert.match(await page.getByTestId('urgent').innerText(), /refused from the command line/);
  },

  'one’s own answer is not told back': async (world) => {
    const { page } = await openScene(world.context, world.address, 'waiting', { hash: RUN });
    await page.getByTestId('approve').click();
    await page.getByTestId('approval').waitFor({ state: 'detached' });
    await frames(page);
    assert.equal(await page.getByTestId('toast').count(), 0);
  },
};
