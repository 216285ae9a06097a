// Pictures of every scene in both themes: node shots.mjs FOLDER [NAME…]
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { browse, frames, openScene, serve } from './world.mjs';

const RUN = '#/run/01JE7';

/** A picture: its scene, the place in the window, and what is done before it is taken. */
const SHOTS = {
  runs: { scene: 'list' },
  empty: { scene: 'empty' },
  'runs-error': { scene: 'error' },
  'start-refused': { scene: 'refusals', act: async (page) => {
    await page.getByTestId('start-question').fill('What does the archive say about recall?');
    await page.getByTestId('start-run').click();
    await page.getByText('permission denied').waitFor();
  } },
  'pick-agent': { scene: 'list', act: async (page) => page.getByTestId('start-agent').click() },
  palette: { scene: 'accepted', hash: RUN, act: async (page) => page.keyboard.press('Control+k') },
  shortcuts: { scene: 'accepted', hash: RUN, act: async (page) => page.keyboard.press('?') },
  waiting: { scene: 'waiting', hash: RUN },
  denying: { scene: 'waiting', hash: RUN, act: async (page) => page.getByTestId('deny').click() },
  checks: { scene: 'waiting', hash: RUN, height: 1000, act: async (page) => page.getByTestId('checks-all').first().click() },
  editing: { scene: 'waiting', hash: RUN, act: async (page) => {
    await page.getByTestId('edit').click();
    await page.getByTestId('edit-arguments').fill('{ "channel": "#ann-lab" }');
    await page.getByTestId('approve').click();
    await page.getByTestId('answer-error').waitFor();
  } },
  always: { scene: 'waiting', hash: RUN, height: 900, act: async (page) => page.getByTestId('always').click() },
  heavy: { scene: 'heavy', hash: RUN, height: 900, act: async (page) => {
    await page.getByTestId('approval').getByText('graph-on-disk').first().waitFor();
    await page.getByTestId('checks-all').first().click();
  } },
  asking: { scene: 'asking', hash: RUN },
  'server-form': { scene: 'server-form', hash: RUN, height: 1000 },
  'server-form-refused': { scene: 'server-form', hash: RUN, height: 1000, act: async (page) => {
    await page.evaluate(() => (globalThis.fake.answerServer = () => Promise.reject(new Error('“Node” is missing; it has to be one of “n0”, “n1”; “Hours” has to be a whole number, from 1 to 24.'))));
    await page.getByTestId('server-send').click();
    await page.getByTestId('answer-error').waitFor();
  } },
  'server-visit': { scene: 'server-visit', hash: RUN },
  'server-questions': { scene: 'server-questions', hash: RUN, height: 1100, act: async (page) => page.getByTestId('tool-card').filter({ hasText: 'cluster.submit' }).locator('button').first().click() },
  'narrow-server-form': { scene: 'server-form', hash: RUN, width: 960, height: 640 },
  uncertain: { scene: 'uncertain', hash: RUN, height: 900, act: async (page) => page.getByTestId('settle-happened').check() },
  accepting: { scene: 'accepting', hash: RUN },
  refusing: { scene: 'accepting', hash: RUN, act: async (page) => page.getByTestId('refuse').click() },
  spent: { scene: 'spent', hash: RUN },
  'spent-money': { scene: 'spent-money', hash: RUN, height: 900 },
  answered: { scene: 'answered', hash: RUN, height: 1100, act: async (page) => {
    await page.getByTestId('tool-card').filter({ hasText: 'slack.post_message' }).locator('button').first().click();
    await page.getByTestId('undo').click();
  } },
  'narrow-waiting': { scene: 'waiting', hash: RUN, width: 960, height: 640 },
  'narrow-always': { scene: 'waiting', hash: RUN, width: 960, height: 640, act: async (page) => page.getByTestId('always').click() },
  streaming: { scene: 'streaming', hash: RUN, act: async (page) => {
    for (let beat = 0; beat < 3; beat += 1) await page.evaluate(() => globalThis.fake.pass('01JE7'));
    await page.getByTestId('provisional').waitFor();
  } },
  spliced: { scene: 'spliced', hash: RUN },
  'handed-off': { scene: 'handed-off', hash: RUN },
  interrupted: { scene: 'interrupted', hash: RUN },
  accepted: { scene: 'accepted', hash: RUN },
  'accepted-top': { scene: 'accepted', hash: RUN, act: async (page) => {
    await page.getByTestId('rein').getByText('“disk-based index 100M build time”').click();
    await page.getByTestId('tool-card').filter({ hasText: 'disk-based' }).locator('button').first().click();
  } },
  artifact: { scene: 'accepted', hash: `${RUN}/artifact/index.html` },
  'artifact-gone': { scene: 'refusals', hash: '#/run/01JE9/artifact/other.html' },
  'artifact-no-run': { scene: 'refusals', hash: `${RUN}/artifact/index.html` },
  'artifact-uncited': { scene: 'unverified', hash: `${RUN}/artifact/notes.html` },
  fresh: { scene: 'fresh', hash: RUN },
  paused: { scene: 'paused', hash: RUN },
  failed: { scene: 'failed', hash: RUN },
  cancelled: { scene: 'cancelled', hash: RUN },
  unverified: { scene: 'unverified', hash: RUN },
  'cancel-asked': { scene: 'streaming', hash: RUN, act: async (page) => {
    await page.getByTestId('run-menu').click();
    await page.getByRole('menuitem', { name: 'Cancel' }).click();
    await page.getByTestId('cancel-dialog').waitFor();
  } },
  'run-menu': { scene: 'streaming', hash: RUN, act: async (page) => page.getByTestId('run-menu').click() },
  toasts: { scene: 'accepted', hash: `${RUN}/artifact/index.html`, act: async (page) => page.getByTestId('artifact-save').click() },
  'runs-loading': { scene: 'loading' },
  'run-loading': { scene: 'loading', hash: RUN },
  'settings-loading': { scene: 'loading', hash: '#/settings' },
  'settings-error': { scene: 'error', hash: '#/settings' },
  'settings-bare': { scene: 'bare', hash: '#/settings', height: 1500 },
  rules: { scene: 'list', hash: '#/settings/rules', height: 900 },
  many: { scene: 'many', height: 900 },
  // The least window, and what a person sees who reads at 200 %.
  'small-runs': { scene: 'list', width: 800, height: 600 },
  'small-empty': { scene: 'empty', width: 800, height: 600 },
  'small-waiting': { scene: 'waiting', hash: RUN, width: 800, height: 600 },
  'small-accepted': { scene: 'accepted', hash: RUN, width: 800, height: 600 },
  'small-artifact': { scene: 'accepted', hash: `${RUN}/artifact/index.html`, width: 800, height: 600 },
  'small-settings': { scene: 'list', hash: '#/settings', width: 800, height: 600 },
  'zoom-runs': { scene: 'list', width: 640, height: 400 },
  'zoom-empty': { scene: 'empty', width: 640, height: 800 },
  'zoom-waiting': { scene: 'waiting', hash: RUN, width: 640, height: 400 },
  'zoom-accepted': { scene: 'accepted', hash: RUN, width: 640, height: 400 },
  'zoom-artifact': { scene: 'accepted', hash: `${RUN}/artifact/index.html`, width: 640, height: 400 },
  'text-runs': { scene: 'list', text: 2 },
  'text-empty': { scene: 'empty', text: 2 },
  'text-waiting': { scene: 'waiting', hash: RUN, text: 2 },
  'text-accepted': { scene: 'accepted', hash: RUN, text: 2 },
  'text-artifact': { scene: 'accepted', hash: `${RUN}/artifact/index.html`, text: 2 },
  'text-settings': { scene: 'list', hash: '#/settings', text: 2, height: 1200 },
  'text-quit': { scene: 'list', text: 2, act: async (page) => page.evaluate(() => globalThis.fake.askToQuit()) },
  'text-palette': { scene: 'accepted', hash: RUN, text: 2, act: async (page) => page.keyboard.press('Control+k') },
  long: { scene: 'long', hash: RUN },
  huge: { scene: 'huge', hash: RUN },
  unreadable: { scene: 'unreadable', hash: RUN },
  'run-missing': { scene: 'error', hash: RUN },
  settings: { scene: 'list', hash: '#/settings' },
  'settings-tried': { scene: 'list', hash: '#/settings', act: async (page) => {
    await page.getByTestId('provider-test').first().click();
    await page.getByTestId('provider-add').click();
  } },
  'keys-adding': { scene: 'list', hash: '#/settings', height: 1100, act: async (page) => {
    await page.getByTestId('provider-add').click();
    await page.getByTestId('provider-name').fill('anthropic');
    await page.getByTestId('provider-key').fill('sk-ant-0123456789');
  } },
  'keys-list': { scene: 'list', hash: '#/settings', height: 1100 },
  'keys-typing': { scene: 'list', hash: '#/settings', height: 1100, act: async (page) => {
    await page.locator('[data-testid=key][data-name=local]').getByTestId('key-set').click();
    await page.getByTestId('key-input').fill('sk-ant-0123456789');
    await page.locator('[data-testid=key][data-name=old-gateway]').getByTestId('key-remove').click();
  } },
  'keys-empty': { scene: 'keys-empty', hash: '#/settings' },
  'keys-unavailable': { scene: 'keys-unavailable', hash: '#/settings', height: 1000 },
  'keys-locked': { scene: 'keys-locked', hash: '#/settings', height: 1000 },
  'keys-unlock': { scene: 'keys-locked', hash: '#/settings', act: async (page) => {
    await page.getByTestId('keys-unlock').click();
    await page.getByTestId('passphrase-old').fill('another one');
    await page.getByTestId('key-dialog-confirm').click();
    await page.getByText('does not open').waitFor();
  } },
  'keys-open': { scene: 'keys-open', hash: '#/settings', height: 1000 },
  'keys-change': { scene: 'keys-open', hash: '#/settings', act: async (page) => page.getByTestId('keys-change').click() },
  'keys-new-file': { scene: 'list', hash: '#/settings', act: async (page) => page.getByTestId('key-place-file').click() },
  'keys-failing': { scene: 'keys-failing', hash: '#/settings', height: 1100, act: async (page) => {
    await page.locator('[data-testid=key][data-name=lab]').getByTestId('key-test').click();
    await page.getByText('refused the key').waitFor();
    await page.locator('[data-testid=key][data-name=local]').getByTestId('key-set').click();
    await page.getByTestId('key-input').fill('sk-0123456789');
    await page.getByTestId('key-save').click();
    await page.getByText('did not answer within').waitFor();
  } },
  // As at 200 % zoom on a small screen.
  'keys-zoomed': { scene: 'list', hash: '#/settings', width: 640, height: 1400 },
  'keys-zoomed-failing': { scene: 'keys-unavailable', hash: '#/settings', width: 640, height: 1400 },
  'servers-empty': { scene: 'list', hash: '#/settings/servers' },
  servers: { scene: 'servers', hash: '#/settings/servers', height: 1200 },
  'servers-add': { scene: 'servers', hash: '#/settings/servers', height: 1000, act: async (page) => page.getByTestId('server-add').click() },
  'servers-program': { scene: 'servers', hash: '#/settings/servers', height: 1000, act: async (page) => {
    await page.getByTestId('server-add').click();
    await page.getByTestId('server-kind-program').click();
    await page.getByTestId('server-name').fill('lab-notes');
    await page.getByTestId('server-command').fill('npx -y notes-server ~/Notes');
    await page.getByTestId('grant-add').click();
    await page.getByTestId('grant-name').fill('API_KEY');
    await page.getByTestId('grant-from').selectOption('text');
    await page.getByTestId('grant-value').fill('a');
    await page.getByTestId('server-save').click();
    await page.getByText('must not stand in this file').waitFor();
  } },
  'servers-open': { scene: 'servers', hash: '#/settings/servers', height: 1100, act: async (page) => page.locator('[data-testid=server][data-name=exa]').getByTestId('server-fold').click() },
  'servers-sign-in': { scene: 'servers', hash: '#/settings/servers', act: async (page) => {
    await page.getByTestId('server-sign-in').click();
    await page.getByTestId('sign-in-host').waitFor();
  } },
  'servers-testing': { scene: 'servers-slow', hash: '#/settings/servers', act: async (page) => page.locator('[data-testid=server][data-name=exa]').getByTestId('server-test').click() },
  'servers-huge': { scene: 'servers-huge', hash: '#/settings/servers', height: 1000, act: async (page) => page.getByTestId('server-fold').click() },
  'servers-zoomed': { scene: 'servers', hash: '#/settings/servers', width: 640, height: 1400 },
  'servers-unreadable': { scene: 'servers-unreadable', hash: '#/settings/servers' },
  'skills-list': { scene: 'list', hash: '#/settings/skills', height: 900 },
  'skills-zoomed': { scene: 'list', hash: '#/settings/skills', width: 640, height: 1200 },
  'skill-dropped': { scene: 'list', height: 900, act: async (page) => page.evaluate(() => globalThis.fake.drop({})) },
  'skill-changed': { scene: 'list', hash: '#/settings/skills', height: 900, act: async (page) => page.locator('[data-testid=skill][data-name=field-notes]').getByTestId('skill-look').click() },
  'skill-hover': { scene: 'list', act: async (page) => page.evaluate(() => globalThis.fake.hover(true)) },
  'skill-asked': { scene: 'skill', hash: RUN, height: 900 },
  'runs-filtered': { scene: 'list', act: async (page) => page.getByTestId('filter-failed').click() },
  'runs-none': { scene: 'list', act: async (page) => page.getByTestId('search').fill('nowhere') },
  'runs-helpers': { scene: 'children' },
  search: { scene: 'search', height: 1000, act: async (page) => { await page.getByTestId('search').fill('took 11 h'); await page.getByTestId('search-hit').first().waitFor(); } },
  compare: { scene: 'compare', hash: '#/compare/01JE7/01JE8', height: 900 },
  'compare-open': { scene: 'compare', hash: '#/compare/01JE7/01JE8', height: 900, act: async (page) => page.getByTestId('same-steps').first().click() },
  'compare-zoom': { scene: 'compare', hash: '#/compare/01JE7/01JE8', width: 640, height: 800 },
  'compare-dialog': { scene: 'compare', hash: RUN, act: async (page) => { await page.getByTestId('run-end').waitFor(); await page.keyboard.press('c'); } },
  'fork-more': { scene: 'replay', hash: `${RUN}/replay/39`, height: 1000, act: async (page) => { await page.getByTestId('replay-place').waitFor(); await page.keyboard.press('f'); await page.getByTestId('fork-more').click(); } },
  'delete-dialog': { scene: 'search', hash: RUN, act: async (page) => { await page.getByTestId('run-menu').click(); await page.getByRole('menuitem', { name: 'Delete the run' }).click(); } },
  storage: { scene: 'search', hash: '#/settings/data', act: async (page) => page.getByTestId('storage').getByText('in all').waitFor() },
  inbox: { scene: 'inbox', hash: '#/waiting' },
  'inbox-question': { scene: 'inbox', hash: '#/waiting/01JEA' },
  'inbox-approval': { scene: 'inbox', hash: '#/waiting/01JE9' },
  'inbox-empty': { scene: 'accepted', hash: '#/waiting' },
  'inbox-loading': { scene: 'loading', hash: '#/waiting' },
  'inbox-error': { scene: 'error', hash: '#/waiting' },
  'inbox-small': { scene: 'inbox', hash: '#/waiting/01JE9', width: 800, height: 600 },
  'inbox-zoom': { scene: 'inbox', hash: '#/waiting/01JE9', width: 640, height: 800 },
  replay: { scene: 'replay', hash: `${RUN}/replay/38`, height: 900 },
  'replay-end': { scene: 'replay', hash: `${RUN}/replay` },
  'replay-action': { scene: 'replay', hash: `${RUN}/replay/42`, height: 1000 },
  'replay-changes': { scene: 'replay', hash: `${RUN}/replay/39`, act: async (page) => page.getByTestId('request-changes').click() },
  'replay-bytes': { scene: 'replay', hash: `${RUN}/replay/39`, act: async (page) => page.getByTestId('request-bytes').click() },
  'replay-answer': { scene: 'replay', hash: `${RUN}/replay/39`, act: async (page) => page.getByTestId('request-answer').click() },
  'replay-files': { scene: 'replay', hash: `${RUN}/replay/57`, act: async (page) => page.getByTestId('look-files').click() },
  'replay-differs': { scene: 'replay', hash: `${RUN}/replay/57`, act: async (page) => { await page.getByTestId('look-files').click(); await page.getByTestId('files-start').click(); } },
  'replay-fork': { scene: 'replay', hash: `${RUN}/replay/39`, act: async (page) => { await page.getByTestId('replay-place').waitFor(); await page.keyboard.press('f'); } },
  'replay-huge': { scene: 'replay-huge', hash: `${RUN}/replay/7000` },
  'replay-loading': { scene: 'replay-silent', hash: `${RUN}/replay` },
  'replay-failing': { scene: 'replay-failing', hash: `${RUN}/replay/40` },
  'replay-missing': { scene: 'replay-missing', hash: `${RUN}/replay` },
  'replay-small': { scene: 'replay', hash: `${RUN}/replay/39`, width: 800, height: 600 },
  'replay-zoom': { scene: 'replay', hash: `${RUN}/replay/39`, width: 640, height: 800 },
  children: { scene: 'children', hash: RUN, height: 900 },
  'children-open': { scene: 'children', hash: RUN, height: 1100, act: async (page) => page.locator('[data-testid=tool-card][data-tool=delegate] .head').last().click() },
  'children-back': { scene: 'children-back', hash: RUN, height: 900 },
  'child-run': { scene: 'children', hash: '#/run/01JE7-3' },
  'children-small': { scene: 'children', hash: RUN, width: 800, height: 600 },
  crowd: { scene: 'crowd', hash: RUN, height: 900 },
  cards: { scene: 'cards', hash: RUN, height: 900 },
  'cards-open': { scene: 'cards', hash: RUN, height: 4200, act: async (page) => {
    await page.getByTestId('tool-card').first().waitFor();
    for (const head of await page.locator('[data-testid=tool-card] > .head').all()) await head.click();
  } },
  'cards-narrow': { scene: 'cards', hash: RUN, width: 640, height: 4600, act: async (page) => {
    await page.getByTestId('tool-card').first().waitFor();
    for (const head of await page.locator('[data-testid=tool-card] > .head').all()) await head.click();
  } },
  quit: { scene: 'list', act: async (page) => page.evaluate(() => globalThis.fake.askToQuit()) },
  narrow: { scene: 'accepted', hash: RUN, width: 960, height: 640 },
  wide: { scene: 'waiting', hash: RUN, width: 1720, height: 1000 },
};

const [folder, ...names] = process.argv.slice(2);
if (!folder) {
  console.error('usage: node shots.mjs FOLDER [NAME…]');
  process.exit(2);
}
await mkdir(folder, { recursive: true });
const [server, browser] = [await serve(), await browse()];
for (const [name, shot] of Object.entries(SHOTS)) {
  if (names.length > 0 && !names.includes(name)) continue;
  for (const theme of ['light', 'dark']) {
    const { page, faults } = await openScene(browser.context, server.address, shot.scene, { ...shot, theme });
    await page.getByRole('navigation', { name: 'Longrein' }).waitFor();
    if (shot.act) await shot.act(page);
    await frames(page);
    await page.screenshot({ path: join(folder, `${name}-${theme}.png`) });
    for (const fault of faults) console.error(`${name} ${theme}: ${fault}`);
    await page.close();
  }
}
await browser.end();
await server.end();
