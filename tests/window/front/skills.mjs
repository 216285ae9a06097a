// Skills: dropped on the window, looked through, installed, approved when they changed, removed.
import assert from 'node:assert/strict';
import { callsOf, openScene, wellBehaved } from './world.mjs';

const skill = (page, name) => page.locator(`[data-testid=skill][data-name=${name}]`);
const skills = (world) => openScene(world.context, world.address, 'list', { hash: '#/settings/skills' });

export default {
  'what is dropped is looked through first, and installed as it was seen': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'list');
    await page.evaluate(() => globalThis.fake.hover(true));
    await page.getByTestId('drop-veil').getByText('Drop a skill here').waitFor();
    await page.evaluate(() => globalThis.fake.hover(false));
    await page.getByTestId('drop-veil').waitFor({ state: 'detached' });
    await page.evaluate(() => globalThis.fake.drop({ offer: 7 }));
    const dialog = page.getByTestId('skill-dialog');
    for (const told of ['~/Downloads/field-notes.zip', 'CC-BY-4.0', 'host lab.example.org', 'a character that is not seen']) await dialog.getByText(told).waitFor();
    assert.deepEqual(await callsOf(page, 'installSkill'), []);
    await page.getByTestId('skill-agree').click();
    await dialog.waitFor({ state: 'detached' });
    const [[offer, seen]] = await callsOf(page, 'installSkill');
    assert.equal(offer, 7);
    assert.match(seen, /^[0-9a-f]{64}$/);
    wellBehaved(faults);
  },

  'what is declined leaves no trace, and several that were dropped are asked one after the other': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'list');
    await page.evaluate(() => [1, 2].forEach((offer) => globalThis.fake.drop({ offer, path: `~/Downloads/${offer}.zip` })));
    await page.getByTestId('skill-dialog').getByText('~/Downloads/1.zip').waitFor();
    await page.getByTestId('skill-leave').click();
    await page.getByTestId('skill-dialog').getByText('~/Downloads/2.zip').waitFor();
    await page.keyboard.press('Escape');
    await page.getByTestId('skill-dialog').waitFor({ state: 'detached' });
    assert.deepEqual(await callsOf(page, 'declineSkill'), [[1], [2]]);
    assert.deepEqual(await callsOf(page, 'installSkill'), []);
    wellBehaved(faults);
  },

  'what is no skill is said, with what would help': async (world) => {
    const { page } = await openScene(world.context, world.address, 'list');
    await page.evaluate(() => globalThis.fake.drop({ offer: null, review: null, refused: ['~/Downloads/cat.png is neither a skill’s folder nor a zip of one.', 'A skill is a folder with a SKILL.md.'] }));
    await page.getByText('is neither a skill’s folder').first().waitFor();
    assert.equal(await page.getByTestId('skill-dialog').count(), 0);
  },

  'a skill that changed is approved with its difference in view, and one that was installed is removed': async (world) => {
    const { page, faults } = await skills(world);
    await skill(page, 'field-notes').getByText('Changed since you approved it').or(skill(page, 'field-notes').getByText('changed since you approved it')).first().waitFor();
    await skill(page, 'field-notes').getByTestId('skill-look').click();
    await page.getByTestId('difference').getByText('+Then upload the table:').waitFor();
    await page.getByTestId('skill-agree').click();
    await page.getByTestId('skill-dialog').waitFor({ state: 'detached' });
    assert.equal((await callsOf(page, 'approveSkill'))[0][0], '~/.local/share/longrein/skills/field-notes');
    assert.equal(await skill(page, 'field-notes').getAttribute('data-state'), 'approved');
    assert.equal(await skill(page, 'research-page').getByTestId('skill-remove').count(), 0);
    await skill(page, 'citation-style').getByTestId('skill-remove').click();
    assert.deepEqual(await callsOf(page, 'removeSkill'), []);
    await skill(page, 'citation-style').getByTestId('skill-remove-confirm').click();
    await skill(page, 'citation-style').waitFor({ state: 'detached' });
    wellBehaved(faults);
  },

  'a skill that can’t be used says why, with the line': async (world) => {
    const { page } = await skills(world);
    await skill(page, 'tables').getByText('SKILL.md:3').waitFor();
  },

  'a run that needs a changed skill shows what is in it beside the question': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'skill', { hash: '#/run/01JE7' });
    const review = page.getByTestId('skill-review');
    await review.getByText('+Then upload the table:').waitFor();
    assert.equal(await page.getByTestId('always').count(), 0);
    await page.getByTestId('approve').click();
    const [[, , approval]] = await callsOf(page, 'approveAction');
    assert.equal(approval.seen, '7d'.repeat(32));
    wellBehaved(faults);
  },
};
