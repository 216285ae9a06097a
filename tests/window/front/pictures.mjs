// Pictures of the window: each is kept for whoever looks, and some can be compared with how they
// should look: `LONGREIN_PICTURES=1` does, on a machine with the fonts that they were taken with.
// `UPDATE_PICTURES=1` takes how they look now for how they should.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The pictures of the last test run. */
export const TAKEN = fileURLToPath(new URL('../../../target/pictures', import.meta.url));
/** How they should look, small: another version of the browser draws its letters a little otherwise. */
const EXPECTED = fileURLToPath(new URL('./pictures', import.meta.url));
const WIDTH = 200;

/** A point differs when a colour is off by more, and a picture when more of its points do. */
const OFF = 40;
const DIFFERENT = 0.01;

/**
 * In the page: makes a picture small, and tells it with the share of its points that differ from
 * another.
 */
async function reduced([taken, expected, width, off]) {
  const points = async (base64, to) => {
    const bytes = Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const size = to ?? [width, Math.round((bitmap.height / bitmap.width) * width)];
    const canvas = new OffscreenCanvas(...size);
    const context = canvas.getContext('2d');
    context.imageSmoothingQuality = 'high';
    context.drawImage(bitmap, 0, 0, ...size);
    return { canvas, size, data: context.getImageData(0, 0, ...size).data };
  };
  const now = await points(taken);
  let share = 0;
  if (expected) {
    const then = await points(expected, now.size);
    let different = 0;
    for (let at = 0; at < now.data.length; at += 4) {
      if ([0, 1, 2].some((part) => Math.abs(now.data[at + part] - then.data[at + part]) > off)) different += 1;
    }
    share = different / (now.data.length / 4);
  }
  const small = new Uint8Array(await (await now.canvas.convertToBlob({ type: 'image/png' })).arrayBuffer());
  return { share, small: btoa(String.fromCharCode(...small)) };
}

/** Takes a picture of the page and keeps it; `compared`, and where that is asked for, it fails when it does not look as it should. */
export async function pictured(page, name, compared = false) {
  await mkdir(TAKEN, { recursive: true });
  await page.screenshot({ path: join(TAKEN, `${name}.png`), caret: 'hide' });
  const updating = process.env.UPDATE_PICTURES === '1';
  if (!compared || !(updating || process.env.LONGREIN_PICTURES === '1')) return;
  // A delivered page has letters of the machine: it is no part of how the window looks.
  const shown = (visibility) => page.evaluate((how) => document.querySelectorAll('iframe').forEach((frame) => (frame.style.visibility = how)), visibility);
  await shown('hidden');
  const taken = await page.screenshot({ caret: 'hide' });
  await shown('visible');
  const file = join(EXPECTED, `${name}.png`);
  const expected = !updating && existsSync(file) ? (await readFile(file)).toString('base64') : null;
  assert.ok(updating || expected, `there is no picture of how ${name} should look: UPDATE_PICTURES=1 takes one`);
  const { share, small } = await page.evaluate(reduced, [taken.toString('base64'), expected, WIDTH, OFF]);
  if (updating) {
    await mkdir(EXPECTED, { recursive: true });
    await writeFile(file, Buffer.from(small, 'base64'));
    return;
  }
  assert.ok(
    share <= DIFFERENT,
    `${(share * 100).toFixed(1)} % of ${name} look otherwise: see target/pictures/${name}.png; if it should look so, UPDATE_PICTURES=1 takes it`,
  );
}
