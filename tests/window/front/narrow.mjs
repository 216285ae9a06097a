// Small windows, magnified ones and large letters: everything stays in reach and whole.
import assert from 'node:assert/strict';
import { barriers, frames, openScene, RUN, wellBehaved } from './world.mjs';

const PLACES = [
  ['the runs', 'list', '#/runs'],
  ['the first start', 'empty', '#/runs'],
  ['an approval', 'waiting', RUN],
  ['a question', 'asking', RUN],
  ['a finished run', 'accepted', RUN],
  ['a delivered page', 'accepted', `${RUN}/artifact/index.html`],
  ['the settings', 'list', '#/settings'],
  ['the servers', 'servers', '#/settings/servers'],
];
const LOOKS = [
  ['in the smallest window', { width: 800, height: 600 }],
  ['at twice the size', { width: 640, height: 400 }],
  ['with letters of twice the size', { text: 2 }],
];

/** Controls in view that stand out of the window, or don't hold their own words. */
const cramped = (page) =>
  page.evaluate(() => {
    const named = (element) => element.dataset.testid ?? element.getAttribute('aria-label') ?? element.textContent.trim().slice(0, 40);
    const faults = [];
    if (document.scrollingElement.scrollWidth > innerWidth) faults.push(`the window is ${document.scrollingElement.scrollWidth - innerWidth} px too narrow`);
    for (const control of document.querySelectorAll('button, input, textarea, select')) {
      if (!control.checkVisibility()) continue;
      const { left, right, width, height } = control.getBoundingClientRect();
      if (width < 2 || height < 2) continue;
      if (left < -1 || right > innerWidth + 1) faults.push(`${named(control)} stands out of the window`);
      // What is cut with dots says so, and what scrolls can be read.
      if (control.matches('textarea, input, select') || control.querySelector('.cut')) continue;
      if (control.scrollWidth > control.clientWidth + 2) faults.push(`${named(control)} is wider than its frame`);
      if (control.scrollHeight > control.clientHeight + 2) faults.push(`${named(control)} is higher than its frame`);
    }
    return faults;
  });

const suite = {};
for (const [words, look] of LOOKS) {
  for (const [place, scene, hash] of PLACES) {
    suite[`${place} ${place.endsWith('s') ? 'are' : 'is'} whole ${words}`] = async (world) => {
      const { page, faults } = await openScene(world.context, world.address, scene, { hash, ...look });
      await page.locator('main:visible, [data-testid=artifact]').first().waitFor();
      await frames(page);
      assert.deepEqual(await cramped(page), []);
      assert.deepEqual(await barriers(page), []);
      wellBehaved(faults);
    };
  }
}

suite['the inspector of a small window lies over the conversation, and only when it is asked for'] = async (world) => {
  const { page } = await openScene(world.context, world.address, 'streaming', { hash: RUN, width: 800, height: 600 });
  await page.getByTestId('conversation').waitFor();
  await frames(page);
  assert.equal(await page.getByTestId('inspector').count(), 0);
  const before = await page.getByTestId('conversation').boundingBox();
  await page.keyboard.press('i');
  await page.getByTestId('inspector').waitFor();
  await frames(page);
  assert.deepEqual(await page.getByTestId('conversation').boundingBox(), before);
  await page.keyboard.press('Escape');
  await page.getByTestId('inspector').waitFor({ state: 'detached' });
  // A citation leads to its source, wherever the inspector stands.
  await page.getByTestId('conversation').locator('a.cite').first().evaluate((link) => link.click());
  await page.getByTestId('inspector').waitFor();
  // In a wide window it stands beside again, as the person left it there.
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByTestId('inspector').waitFor();
};

suite['the evidence of a page stays in view below it where it has no room beside'] = async (world) => {
  const { page } = await openScene(world.context, world.address, 'accepted', { hash: `${RUN}/artifact/index.html`, width: 640, height: 400 });
  await page.getByTestId('claim').first().waitFor();
  await frames(page);
  const [sheet, ledger] = [await page.getByTestId('artifact-frame').boundingBox(), await page.getByTestId('ledger').boundingBox()];
  assert.ok(ledger.y >= sheet.y + sheet.height && ledger.y + ledger.height <= 400, `the page is at ${JSON.stringify(sheet)}, its evidence at ${JSON.stringify(ledger)}`);
  assert.ok(sheet.height > 100 && ledger.height > 100);
};

suite['every answer to an approval is in view in the smallest window'] = async (world) => {
  const { page } = await openScene(world.context, world.address, 'waiting', { hash: RUN, width: 800, height: 600 });
  await page.getByTestId('approval').waitFor();
  await frames(page);
  for (const id of ['approve', 'edit', 'always', 'deny', 'steer-input']) {
    const box = await page.getByTestId(id).boundingBox();
    assert.ok(box && box.y >= 0 && box.y + box.height <= 600, `${id} is at ${JSON.stringify(box)}`);
  }
};

export default suite;
