// A delivered page in its frame, and its evidence.
import assert from 'node:assert/strict';
import { callsOf, openScene, RUN, wellBehaved } from './world.mjs';

const PAGE = `${RUN}/artifact/index.html`;

export default {
  'the page opens in a frame without rights, with its evidence beside it': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'accepted', { hash: RUN });
    await page.getByTestId('artifact-open').click();
    const frame = page.getByTestId('artifact-frame');
    await frame.waitFor();
    assert.equal(await frame.getAttribute('sandbox'), 'allow-scripts');
    assert.equal(await page.getByTestId('claim').count(), 6);
    const near = page.locator('[data-testid=claim][data-state=near]');
    await near.getByText('lists were built in 52 min, the graph in 9 h').waitFor();
    await page.locator('[data-testid=claim][data-state=verbatim]').first().getByText('page 6').waitFor();
    wellBehaved(faults);
  },

  'what is in the frame reaches neither this window nor any host': async (world) => {
    const { page } = await openScene(world.context, world.address, 'accepted', { hash: PAGE });
    await page.frameLocator('[data-testid=artifact-frame]').getByRole('heading', { level: 1 }).waitFor();
    const inside = page.frames().find((frame) => frame.url().includes('artifact.html'));
    const asked = [];
    page.on('request', (request) => asked.push(request.url()));
    const reached = await inside.evaluate(async () => {
      const reach = {};
      const tries = {
        document: () => parent.document.title,
        host: () => parent.fake.calls.length,
        move: () => (top.location = 'https://example.org/'),
        store: () => localStorage.length,
        fetch: () => fetch('https://example.org/'),
        open: () => {
          if (!globalThis.open('https://example.org/')) throw new Error('no window');
        },
      };
      for (const [name, attempt] of Object.entries(tries)) {
        try {
          await attempt();
          reach[name] = true;
        } catch {
          reach[name] = false;
        }
      }
      return { origin, reach };
    });
    assert.deepEqual(reached, { origin: 'null', reach: { document: false, host: false, move: false, store: false, fetch: false, open: false } });
    assert.deepEqual(asked.filter((address) => !address.startsWith(world.address)), []);
  },

  'the ledger shows one state of claims when asked': async (world) => {
    const { page } = await openScene(world.context, world.address, 'accepted', { hash: PAGE });
    const only = page.getByTestId('ledger').getByRole('button', { name: /near/ });
    await only.click();
    await page.waitForFunction(() => document.querySelectorAll('[data-testid=claim]').length === 1);
    await only.click();
    await page.waitForFunction(() => document.querySelectorAll('[data-testid=claim]').length === 6);
  },

  'a copy is saved, the folder is shown, and Escape leads back': async (world) => {
    const { page } = await openScene(world.context, world.address, 'accepted', { hash: PAGE });
    await page.getByTestId('artifact-save').click();
    await page.getByTestId('toast').getByText('Saved as ~/Documents/index.html.').waitFor();
    await page.getByRole('button', { name: 'Show folder' }).click();
    assert.deepEqual(await callsOf(page, 'openWorkspace'), [['01JE7']]);
    await page.keyboard.press('Escape');
    await page.getByTestId('conversation').waitFor();
  },

  'a page that is gone, or was never delivered, says so': async (world) => {
    const { page } = await openScene(world.context, world.address, 'accepted', { hash: `${RUN}/artifact/other.html` });
    await page.getByText('has delivered no file other.html').waitFor();
  },
};
