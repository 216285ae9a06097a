// The front end on the fake host, served as the window serves it: with its policy, from one
// origin, on a free port; and a Chromium that asks no other host for anything.
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(new URL('../../../ui/package.json', import.meta.url));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const ROOT = fileURLToPath(new URL('../../../out/front', import.meta.url));

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.woff2': 'font/woff2',
  '.svg': 'image/svg+xml',
};

/** The policy of the window but for the bridge: what it forbids is a failure of a test. */
const WINDOW_POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'";
/** The policy of an artifact. */
const ARTIFACT_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:";

/** Serves the build; resolves to its address and a function that ends it. */
export async function serve() {
  if (!existsSync(join(ROOT, 'index.html'))) throw new Error('no build of the front end: npm run build:fake');
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url ?? '/', 'http://window').pathname);
    const file = join(ROOT, path === '/' ? 'index.html' : path);
    if (!file.startsWith(ROOT) || !existsSync(file)) return response.writeHead(404).end();
    response.writeHead(200, {
      'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
      'content-security-policy': path.endsWith('artifact.html') ? ARTIFACT_POLICY : WINDOW_POLICY,
    });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { address: `http://127.0.0.1:${server.address().port}`, end: () => new Promise((resolve) => server.close(resolve)) };
}

/** Starts Chromium with a folder of its own; `end` leaves nothing behind. */
export async function browse() {
  const folder = await mkdtemp(join(tmpdir(), 'longrein-front-'));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: process.env.LONGREIN_CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    viewport: { width: 1280, height: 800 },
    timezoneId: 'UTC',
    locale: 'en-GB',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--font-render-hinting=none'],
  });
  return {
    context,
    end: async () => {
      await context.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Opens a scene in a page of its own. Errors of the page and breaches of its policy are gathered
 * in `faults`.
 */
export async function openScene(context, address, scene, { hash = '#/runs', width = 1280, height = 800, theme = 'light', motion = 'reduce', text = 1 } = {}) {
  const page = await context.newPage();
  const faults = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text());
  });
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: theme, reducedMotion: motion });
  await page.goto(`${address}/?scene=${scene}${hash}`);
  // What a person sees who asked for larger letters.
  if (text !== 1) await page.evaluate((times) => (document.documentElement.style.fontSize = `${times * 100}%`), text);
  await page.evaluate(() => document.fonts.ready);
  return { page, faults };
}

/** The place of the run that most scenes tell. */
export const RUN = '#/run/01JE7';

/** The arguments of every call of one name that the window made of its host. */
export const callsOf = (page, name) => page.evaluate((wanted) => globalThis.fake.calls.filter(([called]) => called === wanted).map(([, ...rest]) => rest), name);

/** Opens the gate of the run for one beat. */
export const pass = (page) => page.evaluate(() => globalThis.fake.pass('01JE7'));

/** The picture stands still when so many frames in a row are the same; it must within the limit. */
const STILL_FRAMES = 10;
const FRAMES_LIMIT = 1_200;

/** Waits until what was changed is drawn and measured: nothing grows and nothing moves any more. */
export const frames = (page) =>
  page.evaluate(
    async ([still, limit]) => {
      await document.fonts.ready;
      const picture = () =>
        [...document.querySelectorAll('[data-testid=conversation], [data-testid=rein], main')]
          .map((view) => [view.scrollTop, view.scrollHeight, view.clientHeight, view.querySelectorAll('*').length].join(' '))
          .join('|');
      let same = 0;
      let last = '';
      for (let frame = 0; frame < limit && same < still; frame += 1) {
        await new Promise((done) => requestAnimationFrame(done));
        const now = picture();
        same = now === last ? same + 1 : 0;
        last = now;
      }
      if (same < still) throw new Error('the picture does not come to rest');
    },
    [STILL_FRAMES, FRAMES_LIMIT],
  );

/** The rules of the checker: WCAG to AA, and the contrast of text to AAA. */
const RULES = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'], rules: { 'color-contrast-enhanced': { enabled: true } }, iframes: false };

/** What bars a person from the page as it stands, as the checker names it. */
export async function barriers(page) {
  await page.evaluate(axe);
  const found = await page.evaluate((rules) => globalThis.axe.run(document, rules), RULES);
  return found.violations.map((violation) => `${violation.id}: ${violation.nodes.map((node) => `${node.target.join(' ')} (${node.any[0]?.message ?? node.all[0]?.message ?? ''})`).slice(0, 4).join('; ')}`);
}

/** Fails when the page reported an error, a warning or a breach of its policy. */
export function wellBehaved(faults) {
  if (faults.length > 0) throw new Error(`the page complained:\n${faults.join('\n')}`);
}
