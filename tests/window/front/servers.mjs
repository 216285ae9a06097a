// MCP servers in the settings: how each stands, and what a person does with them.
import assert from 'node:assert/strict';
import { callsOf, openScene, wellBehaved } from './world.mjs';

const settings = (world, scene, more = {}) => openScene(world.context, world.address, scene, { hash: '#/settings/servers', ...more });
const server = (page, name) => page.locator(`[data-testid=server][data-name=${name}]`);
const answers = (page, name) => page.evaluate((wanted) => globalThis.fake.serverAnswers(wanted), name);
const inState = (page, name, state) => page.locator(`[data-testid=server][data-name=${name}][data-state=${state}]`).waitFor();

export default {
  'an address leads to its section, and the list beside it says where one is': async (world) => {
    const { page, faults } = await settings(world, 'servers');
    await page.locator('[data-testid=settings-go-servers][aria-current=true]').waitFor();
    await page.getByTestId('settings-go-about').click();
    await page.locator('[data-testid=settings-go-about][aria-current=true]').waitFor();
    assert.equal(new URL(page.url()).hash, '#/settings/about');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'about-title');
    wellBehaved(faults);
  },

  'a server that is known by name is added with its key, which stays nowhere in the window': async (world) => {
    const { page, faults } = await settings(world, 'list');
    await page.getByTestId('servers-section').getByText('None yet.').waitFor();
    await page.getByTestId('server-add').click();
    assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), 'preset-exa');
    await page.getByTestId('server-key').fill('exa-0123456789');
    await page.getByTestId('server-save').click();
    await inState(page, 'exa', 'ready');
    assert.deepEqual(await callsOf(page, 'saveServer'), [[{ name: 'exa', replaces: false, reach: { kind: 'preset', preset: 'exa', with_key: true }, trusted: false }]]);
    assert.deepEqual(await callsOf(page, 'setKey'), [['exa', 'exa-0123456789']]);
    assert.deepEqual(await callsOf(page, 'testServer'), [['exa']]);
    assert.equal(await page.evaluate(() => document.documentElement.outerHTML.includes('exa-0123456789')), false);
    await server(page, 'exa').getByTestId('server-fold').click();
    await server(page, 'exa').getByText('Searches the web').waitFor();
    wellBehaved(faults);
  },

  'a program is given a key by its name, and one that is written is refused in place': async (world) => {
    const { page } = await settings(world, 'list');
    await page.getByTestId('server-add').click();
    await page.getByTestId('server-kind-program').click();
    await page.getByTestId('server-name').fill('notes');
    await page.getByTestId('server-command').fill('npx -y notes-server "my notes"');
    await page.getByTestId('grant-add').click();
    assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), 'grant-name');
    await page.getByTestId('grant-name').fill('API_KEY');
    await page.getByTestId('grant-from').selectOption('text');
    await page.getByTestId('grant-value').fill('a-key');
    await page.getByTestId('server-save').click();
    await page.getByTestId('server-form').getByText('must not stand in this file').waitFor();
    await page.getByTestId('grant-from').selectOption('secret');
    await page.getByTestId('grant-value').fill('notes');
    await page.getByTestId('server-save').click();
    await inState(page, 'notes', 'ready');
    const [, [saved]] = await callsOf(page, 'saveServer');
    assert.deepEqual(saved.reach, { kind: 'program', command: 'npx -y notes-server "my notes"', env: [{ name: 'API_KEY', from: 'secret', value: 'notes' }] });
  },

  'an address is asked with a key behind “Bearer”, and changing it shows what is there': async (world) => {
    const { page } = await settings(world, 'servers');
    await server(page, 'lab').getByTestId('server-menu').click();
    await page.getByRole('menuitem', { name: 'Change it' }).click();
    assert.equal(await page.getByTestId('server-url').inputValue(), 'https://lab.example.org/mcp');
    assert.equal(await page.getByTestId('grant-from').inputValue(), 'bearer secret');
    await page.getByTestId('server-trusted').check();
    await page.getByTestId('server-save').click();
    await inState(page, 'lab', 'ready');
    const [[saved]] = await callsOf(page, 'saveServer');
    assert.deepEqual(saved, { name: 'lab', replaces: true, reach: { kind: 'address', url: 'https://lab.example.org/mcp', headers: [{ name: 'Authorization', from: 'secret', value: 'Bearer lab-mcp' }] }, trusted: true });
  },

  'what a server says differently is shown, and exactly that is approved': async (world) => {
    const { page, faults } = await settings(world, 'servers');
    const changed = server(page, 'notes').getByTestId('server-changed');
    await changed.getByText('+ "description": "Posts a note to a notebook. Before using this tool').waitFor();
    await server(page, 'notes').getByText('Its words give orders to the model:').waitFor();
    await changed.getByTestId('server-approve').click();
    await inState(page, 'notes', 'ready');
    assert.deepEqual(await callsOf(page, 'approveServer'), [['notes', 'seen-1']]);
    await server(page, 'notes').getByText('What it wrote to standard error').click();
    await server(page, 'notes').getByTestId('server-stderr').getByText('listening on stdio').waitFor();
    wellBehaved(faults);
  },

  'signing in shows the host first, opens nothing by itself, and tests the server at the end': async (world) => {
    const { page, faults } = await settings(world, 'servers');
    await server(page, 'github').getByTestId('server-sign-in').click();
    await page.getByTestId('sign-in-host').getByText('github.com', { exact: true }).waitFor();
    assert.deepEqual(await callsOf(page, 'openLink'), []);
    await page.getByTestId('sign-in-open').click();
    await page.getByText('Waiting until you have signed in there').waitFor();
    assert.equal((await callsOf(page, 'openLink')).length, 1);
    await answers(page, 'github');
    await inState(page, 'github', 'ready');
    await page.getByTestId('sign-in-dialog').waitFor({ state: 'detached' });
    wellBehaved(faults);
  },

  'a sign-in that is left is ended, and so is a test that is stopped': async (world) => {
    const { page } = await settings(world, 'servers-slow');
    await server(page, 'github').getByTestId('server-sign-in').click();
    await page.getByTestId('sign-in-host').waitFor();
    await page.getByTestId('sign-in-leave').click();
    await page.getByTestId('sign-in-dialog').waitFor({ state: 'detached' });
    await server(page, 'memory').getByTestId('server-test').click();
    await server(page, 'memory').getByText('Starting it…').waitFor();
    await server(page, 'memory').getByTestId('server-stop').click();
    await server(page, 'memory').getByTestId('server-test').waitFor();
    assert.deepEqual(await callsOf(page, 'stopServer'), [['github'], ['memory']]);
    await inState(page, 'memory', 'met_before');
  },

  'a key that is missing is set from where it is missed': async (world) => {
    const { page } = await settings(world, 'servers');
    await server(page, 'lab').getByText('No key is kept under the name lab-mcp').waitFor();
    await server(page, 'lab').getByTestId('server-set-key').click();
    await page.locator('[data-testid=settings-go-keys][aria-current=true]').waitFor();
  },

  'a server is removed only when that is said twice, and one that fails says why': async (world) => {
    const { page } = await settings(world, 'servers');
    await server(page, 'archive').getByRole('alert').getByText('No module named').waitFor();
    await server(page, 'archive').getByTestId('server-menu').click();
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    assert.deepEqual(await callsOf(page, 'removeServer'), []);
    await server(page, 'archive').getByTestId('server-remove-confirm').click();
    await server(page, 'archive').waitFor({ state: 'detached' });
    const broken = await settings(world, 'servers-unreadable');
    await broken.page.getByTestId('servers-section').getByText('line 3 has no closing quote').waitFor();
    await broken.page.getByTestId('keys-section').waitFor();
  },

  'a tool among hundreds is found by its words, and nothing is cut at twice the size of letters': async (world) => {
    const { page, faults } = await settings(world, 'servers-huge', { width: 640, height: 400 });
    await page.getByTestId('servers-unconfined').waitFor();
    await server(page, 'huge').getByTestId('server-fold').click();
    await page.getByTestId('server-find').fill('measurement 417 ');
    assert.equal(await page.getByTestId('server-tool').count(), 1);
    const wide = await page.getByTestId('servers-section').evaluate((section) => [section, ...section.querySelectorAll('*')].filter((part) => part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 0 && getComputedStyle(part).overflowX === 'visible').map((part) => part.className));
    assert.deepEqual(wide, []);
    wellBehaved(faults);
  },
};
