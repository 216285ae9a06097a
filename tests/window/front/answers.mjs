// What else waits for a person: a question, an action of which nobody knows, a result, a limit.
import assert from 'node:assert/strict';
import { callsOf, frames, openScene, RUN, wellBehaved } from './world.mjs';

export default {
  'a question of the model is answered by an option, which a digit reaches and does not choose': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'asking', { hash: RUN });
    await page.getByTestId('question-card').getByText('Which machine is meant').waitFor();
    assert.match(await page.getByTestId('urgent').innerText(), /The model asks: Which machine/);
    await page.keyboard.press('a');
    await page.keyboard.press('2');
    assert.deepEqual(await callsOf(page, 'answerQuestion'), []);
    await page.keyboard.press('Enter');
    await page.getByTestId('question-card').waitFor({ state: 'detached' });
    assert.equal((await callsOf(page, 'answerQuestion'))[0][2], 'A machine with 512 GB');
    wellBehaved(faults);
  },

  'a question is answered in one’s own words, which are kept until they are handed over': async (world) => {
    const { page } = await openScene(world.context, world.address, 'asking', { hash: RUN });
    const field = page.getByTestId('question-answer');
    await page.evaluate(() => (globalThis.fake.answerQuestion = () => Promise.reject(new Error('The run has ended.'))));
    await field.fill('Both, but the lab’s first.');
    await field.press('Enter');
    await page.getByTestId('toast').getByText('The run has ended.').waitFor();
    assert.equal(await field.inputValue(), 'Both, but the lab’s first.');
    await page.evaluate(() => delete globalThis.fake.answerQuestion);
  },

  'what became of an uncertain action is said once it was chosen, with its result': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'uncertain', { hash: RUN });
    const card = page.getByTestId('uncertain-card');
    await card.getByText('Repeat the build at 128 GB').waitFor();
    await card.press('Control+Enter');
    assert.equal(await page.getByTestId('settle').isEnabled(), false);
    await page.getByTestId('settle-happened').check();
    await page.getByTestId('settle-result').fill('ANN-42');
    await page.getByTestId('settle-result').press('Control+Enter');
    await card.waitFor({ state: 'detached' });
    assert.deepEqual((await callsOf(page, 'settleAction'))[0].slice(2), ['happened', 'ANN-42']);
    wellBehaved(faults);
  },

  'an uncertain action that did not happen or is run again carries no result, and the run can be stopped': async (world) => {
    for (const verdict of ['not_happened', 'retry']) {
      const { page } = await openScene(world.context, world.address, 'uncertain', { hash: RUN });
      await page.getByTestId('settle-happened').check();
      await page.getByTestId('settle-result').fill('never mind');
      await page.getByTestId(`settle-${verdict}`).check();
      await page.getByTestId('settle').click();
      await page.getByTestId('uncertain-card').waitFor({ state: 'detached' });
      assert.deepEqual((await callsOf(page, 'settleAction'))[0].slice(2), [verdict, null]);
    }
    const { page } = await openScene(world.context, world.address, 'uncertain', { hash: RUN });
    await page.getByTestId('settle-stop').check();
    await page.getByTestId('settle').click();
    await page.locator('[data-testid=run-state][data-state=cancelled]').waitFor();
    assert.deepEqual(await callsOf(page, 'settleAction'), []);
  },

  'a result is accepted by the keyboard, or sent back with words that are asked for': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'accepting', { hash: RUN });
    const card = page.getByTestId('acceptance-card');
    await card.getByText('Read the page and accept it.').waitFor();
    await page.locator('[data-testid=rein] .knot.break.waiting').waitFor();
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    assert.deepEqual(await callsOf(page, 'acceptResult'), []);
    await page.keyboard.press('d');
    assert.equal(await page.getByTestId('refuse-confirm').isEnabled(), false);
    await page.getByTestId('refuse-note').fill('Say which machine in the first line.');
    await page.getByTestId('refuse-note').press('Control+Enter');
    await card.waitFor({ state: 'detached' });
    assert.deepEqual((await callsOf(page, 'acceptResult'))[0], ['01JE7', false, 'Say which machine in the first line.']);
    await page.locator('[data-testid=acceptance][data-state=refused]').getByText('Say which machine').waitFor();
    wellBehaved(faults);
    const again = await openScene(world.context, world.address, 'accepting', { hash: RUN });
    await again.page.getByTestId('acceptance-card').waitFor();
    await again.page.keyboard.press('a');
    await again.page.keyboard.press('Control+Enter');
    await again.page.locator('[data-testid=run-state][data-state=accepted]').waitFor();
    assert.deepEqual(await callsOf(again.page, 'acceptResult'), [['01JE7', true, '']]);
  },

  'a run at its limit says what is done, what is open and what it costs, and goes on with a higher one': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'spent', { hash: RUN });
    const digest = page.getByTestId('digest');
    await digest.getByText('Keep measurements that name their hardware').waitFor();
    await digest.getByText('Check quotes').waitFor();
    await digest.getByText('A step took 7,940 tokens').waitFor();
    await page.locator('[data-testid=budget] [data-limit=steps]').getByText('reached').waitFor();
    const field = page.getByTestId('raise-amount');
    assert.equal(await field.inputValue(), '120');
    // Resuming would only stop again: the key leads to the field.
    await page.keyboard.press('r');
    assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), 'raise-amount');
    assert.deepEqual(await callsOf(page, 'resumeRun'), []);
    await field.fill('many');
    assert.equal(await page.getByTestId('raise-confirm').isEnabled(), false);
    await page.getByTestId('raise').getByText('Write a whole number').waitFor();
    await field.fill('160');
    await field.press('Enter');
    await page.locator('[data-testid=run-state][data-state=running]').waitFor();
    assert.deepEqual(await callsOf(page, 'raiseLimits'), [['01JE7', { steps: 160 }]]);
    wellBehaved(faults);
  },

  'money is raised in dollars and sent to the millionth, or the result is taken as it is': async (world) => {
    const { page } = await openScene(world.context, world.address, 'spent-money', { hash: RUN });
    await page.locator('[data-testid=budget] [data-limit=tokens_in]').getByText('nearly used').waitFor();
    const field = page.getByTestId('raise-amount');
    assert.equal(await field.inputValue(), '4.50');
    await field.fill('$5.25');
    await page.getByTestId('raise-confirm').click();
    await page.locator('[data-testid=run-state][data-state=running]').waitFor();
    assert.deepEqual(await callsOf(page, 'raiseLimits'), [['01JE7', { money_micro: 5_250_000 }]]);
    const again = await openScene(world.context, world.address, 'spent-money', { hash: RUN });
    await again.page.getByTestId('take-as-is').click();
    await again.page.locator('[data-testid=run-state][data-state=unverified]').waitFor();
    assert.deepEqual(await callsOf(again.page, 'acceptResult'), [['01JE7', true, '']]);
  },

  'a card keeps what was said of it, both forms of its arguments, and what it would take to undo it': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'answered', { hash: RUN, height: 2_600 });
    const card = page.getByTestId('tool-card').filter({ hasText: 'slack.post_message' });
    await card.locator('button').first().click();
    await card.getByTestId('said').getByText('approved with other arguments from the command line at 19:20').waitFor();
    await card.locator('pre', { hasText: 'A draft is up' }).waitFor();
    await card.locator('pre', { hasText: 'First comparison is up!' }).waitFor();
    await card.getByTestId('undo').click();
    assert.deepEqual(await callsOf(page, 'undoAction'), []);
    await card.getByTestId('undo-confirm').click();
    await card.getByText('taken back', { exact: true }).waitFor();
    assert.equal((await callsOf(page, 'undoAction')).length, 1);
    assert.equal(await card.getByTestId('undo').count(), 0);
    wellBehaved(faults);
  },

  'rules, raises, judges and refusals are marks of the conversation': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'answered', { hash: RUN, height: 2_600 });
    await page.getByTestId('rules-changed').first().getByText('by the policy file').waitFor();
    await page.getByTestId('budget-mark').getByText('New limits, set from the window').waitFor();
    await page.locator('[data-testid=side][data-state=asked]').getByText('lab/judge-large').waitFor();
    await page.locator('[data-testid=tool-card][data-state=finding_out]').getByText('can’t say yet').waitFor();
    await page.getByTestId('rules-in-force').getByText('also after untrusted text').waitFor();
    await page.getByTestId('rules-in-force').getByText('Revoke in Settings').click();
    await page.getByTestId('rules-section').waitFor();
    wellBehaved(faults);
  },

  'a rule is revoked in Settings, after it was asked once more': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'list', { hash: '#/settings' });
    const section = page.getByTestId('rules-section');
    await section.getByText('only to arxiv.org').waitFor();
    await section.getByTestId('rule-revoke').first().click();
    assert.deepEqual(await callsOf(page, 'revokeRule'), []);
    await section.getByTestId('rule-revoke-confirm').click();
    await section.getByText('only to arxiv.org').waitFor({ state: 'detached' });
    assert.deepEqual(await callsOf(page, 'revokeRule'), [['r2']]);
    wellBehaved(faults);
    const broken = await openScene(world.context, world.address, 'refusals', { hash: '#/settings' });
    await broken.page.getByTestId('rules-section').getByText('line 4 has no closing quote').waitFor();
  },

  'every answer stays in a small window': async (world) => {
    for (const [scene, card] of [['waiting', 'approval'], ['heavy', 'approval'], ['asking', 'question-card'], ['server-form', 'server-question'], ['server-visit', 'server-question'], ['uncertain', 'uncertain-card'], ['accepting', 'acceptance-card']]) {
      const { page, faults } = await openScene(world.context, world.address, scene, { hash: RUN, width: 960, height: 640 });
      const box = await page.getByTestId(card).boundingBox();
      await frames(page);
      assert.ok(box.y >= 52 && box.y + box.height <= 640, `${scene}: ${box.y} ${box.height}`);
      const wide = await page.getByTestId(card).evaluate((element) => [element, ...element.querySelectorAll('*')].filter((part) => part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).overflowX === 'visible' && part.clientWidth > 0).map((part) => part.className));
      assert.deepEqual(wide, [], scene);
      wellBehaved(faults);
    }
  },
};
