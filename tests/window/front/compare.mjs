// Two runs side by side, forks with other things in them, and what is found in what was said.
import assert from 'node:assert/strict';
import { callsOf, frames, openScene, RUN, wellBehaved } from './world.mjs';

export default {
  'a run is laid beside another one, which is found by its words': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'compare', { hash: RUN });
    await page.getByTestId('run-end').waitFor();
    await page.keyboard.press('c');
    await page.getByTestId('compare-dialog').waitFor();
    await page.getByTestId('compare-find').fill('qwen3-235b');
    await page.locator('[data-testid=compare-run][data-run="01JE8"]').click();
    await page.getByTestId('compare').getByText('They part in step 4').waitFor();
    await page.waitForFunction(() => location.hash === '#/compare/01JE7/01JE8');
    await page.getByText('They have their first 39 events from the same run.').waitFor();
    // What is the same is folded, and can be unfolded.
    const folded = page.getByTestId('same-steps').first();
    await folded.getByText('4 steps are the same').waitFor();
    assert.equal(await page.getByText('search_library').count(), 0);
    await folded.click();
    assert.equal(await page.locator('.what', { hasText: 'search_library' }).count(), 4);
    await page.getByTestId('compare-go').click();
    assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), 'divergence');
    assert.equal(await page.getByTestId('divergence').count(), 1);
    // A row leads to its place in the past of its run.
    await page.locator('button.row', { hasText: 'Leave the lab out of it.' }).click();
    await page.locator('[data-testid=replay][data-seq="38"]').waitFor();
    wellBehaved(faults);
  },

  'two runs that are the same say so, and what can’t be compared says why': async (world) => {
    const same = await openScene(world.context, world.address, 'compare-same', { hash: '#/compare/01JE7/01JE8' });
    await same.page.getByText('They don’t differ in anything that was said or done.').waitFor();
    await same.page.getByText('Neither is a fork of the other').waitFor();
    await same.page.keyboard.press('Escape');
    await same.page.locator('.run[data-run="01JE7"]').waitFor();
    const failing = await openScene(world.context, world.address, 'compare-failing', { hash: '#/compare/01JE7/01JE8' });
    await failing.page.getByText('Row 34 of its log is damaged').waitFor();
    const silent = await openScene(world.context, world.address, 'compare-silent', { hash: '#/compare/01JE7/01JE8' });
    await silent.page.getByTestId('compare-loading').waitFor();
    for (const { faults } of [same, failing, silent]) wellBehaved(faults);
  },

  'a fork takes another result, other instructions, a rule and other keys': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'replay', { hash: `${RUN}/replay/39`, height: 1_100 });
    await page.locator('[data-testid=replay][data-seq="39"]').waitFor();
    await page.keyboard.press('f');
    await page.getByTestId('fork-result').click();
    await page.getByRole('menuitemradio', { name: /exa\.search/ }).click();
    assert.match(await page.getByTestId('fork-result-text').inputValue(), /^\[84 KB of JSON/);
    await page.getByTestId('fork-result-text').fill('Nothing was found.');
    await page.getByTestId('fork-more').click();
    await page.getByTestId('fork-instructions').fill('Be short.');
    await page.getByTestId('fork-tool').click();
    await page.getByRole('menuitemradio', { name: 'write_file' }).click();
    await page.getByTestId('fork-rule').click();
    await page.getByText('Ask me about write_file', { exact: true }).waitFor();
    await page.getByTestId('fork-keys').fill('budget');
    await page.getByTestId('fork-confirm').click();
    await page.getByText('“budget” has no value: write key = value.').waitFor();
    assert.deepEqual(await callsOf(page, 'forkRun'), []);
    await page.getByTestId('fork-keys').fill('budget.steps = 40');
    await page.getByTestId('fork-confirm').click();
    await page.locator('.run[data-run="01JF1"]').waitFor();
    const [[request]] = await callsOf(page, 'forkRun');
    const { results, ...rest } = request;
    assert.deepEqual(rest, { run: '01JE7', seq: 39, model: null, agent: null, instructions: 'Be short.', rules: ['{"tool":"write_file","decision":"ask"}'], set: [{ key: 'budget.steps', value: '40' }] });
    assert.deepEqual(results.map((result) => result.text), ['Nothing was found.']);
    assert.deepEqual(await callsOf(page, 'sayToRun'), []);
    wellBehaved(faults);
  },

  'what was said anywhere is found with its place marked, filtered, and led to': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'search');
    await page.getByTestId('run-row').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('"took 11 h"');
    const hits = page.getByTestId('search-hit');
    await hits.first().waitFor();
    assert.ok((await hits.count()) > 3);
    assert.equal(await hits.first().locator('mark').first().innerText(), 'took 11 h');
    const runsOf = () => hits.evaluateAll((all) => [...new Set(all.map((hit) => hit.dataset.run))].sort());
    assert.deepEqual(await runsOf(), ['01JE7', '01JE8', '01JE9']);
    await page.getByTestId('filter-waiting').click();
    await page.waitForFunction(() => [...document.querySelectorAll('[data-testid=search-hit]')].every((hit) => hit.dataset.run === '01JE8'));
    await page.getByTestId('search').fill('nowhere at all');
    await page.getByText('Nothing that was said or found has all these words.').waitFor();
    await page.getByTestId('search').fill('Twelve measurements name');
    await page.getByTestId('filter-all').click();
    const found = page.locator('[data-testid=search-hit][data-run="01JE7"]').first();
    await found.click();
    await page.locator('.run[data-run="01JE7"]').waitFor();
    await page.waitForFunction(() => location.hash === '#/run/01JE7/at/28');
    await frames(page);
    const place = await page.getByTestId('answer').filter({ hasText: 'Twelve measurements name' }).boundingBox();
    const view = await page.getByTestId('conversation').boundingBox();
    assert.ok(place.y >= view.y && place.y < view.y + 120, `at ${place.y - view.y}`);
    wellBehaved(faults);
  },

  'a place far back in a long run is read and led to': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'paged', { hash: `${RUN}/at/3001` });
    await page.getByTestId('conversation').waitFor();
    await page.waitForFunction(() => document.querySelector('[data-testid=conversation]').textContent.includes('S1, page 893'), undefined, { timeout: 20_000 });
    wellBehaved(faults);
  },

  'a search that can’t be made says why, and the list stands': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'search-failing');
    await page.getByTestId('search').fill('vector');
    await page.getByText('The index of the search can’t be written').waitFor();
    assert.ok((await page.getByTestId('run-row').count()) > 0);
    wellBehaved(faults);
  },

  'a run is deleted for good only when that is said, and what takes space is told': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'search', { hash: `${RUN}` });
    await page.getByTestId('run-end').waitFor();
    await page.getByTestId('run-menu').click();
    await page.getByRole('menuitem', { name: 'Delete the run' }).click();
    const dialog = page.getByTestId('delete-dialog');
    await dialog.getByText('Nothing brings them back.').waitFor();
    // A bare Enter keeps it.
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    assert.deepEqual(await callsOf(page, 'deleteRun'), []);
    await page.getByTestId('run-menu').click();
    await page.getByRole('menuitem', { name: 'Delete the run' }).click();
    await page.getByTestId('delete-confirm').click();
    await page.getByTestId('runs').waitFor();
    assert.deepEqual(await callsOf(page, 'deleteRun'), [['01JE7']]);
    assert.equal(await page.locator('[data-testid=run-row][data-run="01JE7"]').count(), 0);
    await page.getByTestId('toast').getByText('is deleted, and 1.2 MB were freed.').waitFor();
    await page.keyboard.press('Control+Comma');
    const storage = page.getByTestId('storage');
    await storage.getByText('185 MB in all').waitFor();
    await storage.getByTestId('storage-free').click();
    await page.getByTestId('toast').getByText('3.2 MB were freed.').waitFor();
    const first = storage.getByTestId('storage-run').first();
    const run = await first.getAttribute('data-run');
    await first.getByTestId('storage-delete').click();
    await page.getByTestId('delete-confirm').click();
    await storage.locator(`[data-run="${run}"]`).waitFor({ state: 'detached' });
    wellBehaved(faults);
  },

  'a run that is at work, and a helper, are not offered to be deleted': async (world) => {
    for (const [scene, hash] of [['streaming', RUN], ['children-back', '#/run/01JE7-1']]) {
      const { page } = await openScene(world.context, world.address, scene, { hash });
      await page.getByTestId('conversation').waitFor();
      await page.getByTestId('run-menu').click();
      await page.getByRole('menuitem', { name: 'Copy the run’s id' }).waitFor();
      assert.equal(await page.getByRole('menuitem', { name: 'Delete the run' }).count(), 0);
    }
  },
};
