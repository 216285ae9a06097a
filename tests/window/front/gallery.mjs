// Every component in every state, in both themes: its picture, its barriers, and no complaint.
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { TAKEN } from './pictures.mjs';
import { barriers, frames, wellBehaved } from './world.mjs';

/** The pictures of the last test run, for whoever looks. */
const PICTURES = join(TAKEN, 'gallery');

async function open(world, theme, motion = 'reduce') {
  const page = await world.context.newPage();
  const faults = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text());
  });
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.emulateMedia({ colorScheme: theme, reducedMotion: motion });
  await page.goto(`${world.address}/gallery.html`);
  await page.getByTestId('gallery').waitFor();
  // What is asked comes from the host, the last of all.
  await page.locator('[data-plate=asks] [data-testid=acceptance-card], [data-plate=asks] [data-testid=approval]').first().waitFor();
  await frames(page);
  return { page, faults };
}

const suite = {};
for (const theme of ['light', 'dark']) {
  suite[`every component in every state has its picture and bars nobody, ${theme}`] = async (world) => {
    const { page, faults } = await open(world, theme);
    assert.deepEqual(await barriers(page), []);
    await mkdir(PICTURES, { recursive: true });
    const plates = await page.locator('[data-plate]').all();
    assert.ok(plates.length >= 18, `${plates.length} plates`);
    for (const plate of plates) await plate.screenshot({ path: join(PICTURES, `${await plate.getAttribute('data-plate')}-${theme}.png`) });
    await page.getByTestId('gallery-error').click();
    await page.getByTestId('gallery-message').click();
    await page.getByTestId('gallery-dialog').click();
    await page.getByTestId('gallery-modal').waitFor();
    await frames(page);
    assert.deepEqual(await barriers(page), []);
    await page.screenshot({ path: join(PICTURES, `overlays-open-${theme}.png`) });
    wellBehaved(faults);
  };
}

suite['no specimen stands wider than its page, in a narrow window and with large letters'] = async (world) => {
  const { page } = await open(world, 'light');
  for (const [width, text] of [[640, 1], [1280, 2]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.evaluate((times) => (document.documentElement.style.fontSize = `${times * 100}%`), text);
    await frames(page);
    const wide = await page.evaluate(() => {
      const right = document.querySelector('main').getBoundingClientRect().right;
      return [...document.querySelectorAll('[data-specimen]')].filter((one) => one.getBoundingClientRect().right > right + 1).map((one) => one.dataset.specimen);
    });
    assert.deepEqual(wide, [], `at ${width} px and ${text * 100} %`);
  }
};

export default suite;
