// Every state of every screen, in both themes: names, roles, contrast, motion, policy.
import assert from 'node:assert/strict';
import { pictured } from './pictures.mjs';
import { barriers, frames, openScene, RUN, wellBehaved } from './world.mjs';

const PLACES = {
  list: '#/runs',
  inbox: '#/waiting',
  empty: '#/runs',
  error: '#/runs',
  refusals: '#/settings',
  'keys-unavailable': '#/settings',
  'keys-locked': '#/settings',
  'keys-open': '#/settings',
  'keys-empty': '#/settings',
  servers: '#/settings/servers',
  'servers-huge': '#/settings/servers',
  bare: '#/settings',
  loading: '#/runs',
  streaming: RUN,
  waiting: RUN,
  spliced: RUN,
  heavy: RUN,
  asking: RUN,
  'server-form': RUN,
  'server-visit': RUN,
  skill: RUN,
  uncertain: RUN,
  accepting: RUN,
  spent: RUN,
  'spent-money': RUN,
  answered: RUN,
  'handed-off': RUN,
  interrupted: RUN,
  compare: '#/compare/01JE7/01JE8',
  'compare-same': '#/compare/01JE7/01JE8',
  'compare-failing': '#/compare/01JE7/01JE8',
  replay: `${RUN}/replay/38`,
  'replay-huge': `${RUN}/replay/7000`,
  'replay-failing': `${RUN}/replay/40`,
  'replay-missing': `${RUN}/replay`,
  'replay-silent': `${RUN}/replay`,
  children: RUN,
  'children-back': RUN,
  crowd: RUN,
  cards: RUN,
  accepted: RUN,
  fresh: RUN,
  paused: RUN,
  failed: RUN,
  cancelled: RUN,
  unverified: RUN,
  unreadable: RUN,
};

/** Those whose looks are compared: one for each kind of screen. */
const COMPARED = new Set(['children', 'children-back', 'cards', 'inbox', 'replay', 'compare', 'list', 'empty', 'bare', 'servers', 'waiting', 'asking', 'uncertain', 'accepting', 'spent', 'handed-off', 'accepted']);

const suite = {};
for (const theme of ['light', 'dark']) {
  for (const [scene, hash] of Object.entries(PLACES)) {
    suite[`nothing bars a person from the scene ${scene}, and it looks as it should, ${theme}`] = async (world) => {
      const { page, faults } = await openScene(world.context, world.address, scene, { hash, theme });
      await page.locator('main:visible, [data-testid=run-problem], [data-testid=replay], [data-testid=compare]').first().waitFor();
      if (scene === 'streaming') await page.evaluate(() => globalThis.fake.pass('01JE7'));
      await frames(page);
      assert.deepEqual(await barriers(page), []);
      await pictured(page, `${scene}-${theme}`, COMPARED.has(scene));
      wellBehaved(faults);
    };
  }
  suite[`nothing bars a person from the dialogs and the page, ${theme}`] = async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'accepted', { hash: `${RUN}/artifact/index.html`, theme });
    await page.getByTestId('claim').first().waitFor();
    await frames(page);
    assert.deepEqual(await barriers(page), []);
    await pictured(page, `artifact-${theme}`, true);
    for (const [keys, dialog] of [['Control+k', 'palette'], ['?', 'shortcuts']]) {
      await page.keyboard.press(keys);
      await page.getByTestId(dialog).waitFor();
      await frames(page);
      assert.deepEqual(await barriers(page), []);
      await pictured(page, `${dialog}-${theme}`, true);
      await page.keyboard.press('Escape');
      await page.getByTestId(dialog).waitFor({ state: 'detached' });
    }
    await page.evaluate(() => globalThis.fake.drop({}));
    await page.getByTestId('skill-dialog').waitFor();
    await frames(page);
    assert.deepEqual(await barriers(page), []);
    wellBehaved(faults);
  };
}

for (const theme of ['light', 'dark']) {
  suite[`nothing bars a person from what stands behind an event, ${theme}`] = async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'replay', { hash: `${RUN}/replay/42`, theme, height: 1_400 });
    await page.getByTestId('action-record').waitFor();
    const looked = async (name) => {
      await frames(page);
      assert.deepEqual(await barriers(page), [], name);
      await pictured(page, `${name}-${theme}`);
    };
    await looked('replay-action');
    await page.getByTestId('look-view').click();
    await looked('replay-view');
    await page.getByTestId('look-files').click();
    await page.getByTestId('files-start').click();
    await page.getByTestId('changed-file').first().waitFor();
    await looked('replay-files');
    await page.getByTestId('look-request').click();
    for (const part of ['changes', 'bytes', 'answer']) {
      await page.locator(`[role=radio][data-testid=request-${part}]`).click();
      await looked(`replay-${part}`);
    }
    await page.getByTestId('fork-open').click();
    await page.getByTestId('fork-dialog').waitFor();
    await page.getByTestId('fork-more').click();
    await looked('replay-fork');
    await page.keyboard.press('Escape');
    await page.getByTestId('compare-open').click();
    await page.getByTestId('compare-dialog').waitFor();
    await looked('compare-dialog');
    await page.keyboard.press('Escape');
    await page.getByTestId('replay-close').click();
    await page.getByTestId('run-menu').click();
    await page.getByRole('menuitem', { name: 'Delete the run' }).click();
    await page.getByTestId('delete-dialog').waitFor();
    await looked('delete-dialog');
    wellBehaved(faults);
  };
}

for (const theme of ['light', 'dark']) {
  suite[`nothing bars a person from what was found, ${theme}`] = async (world) => {
    for (const [scene, words] of [['search', 'took 11 h'], ['search', 'nowhere at all'], ['search-failing', 'vector']]) {
      const { page, faults } = await openScene(world.context, world.address, scene, { theme });
      await page.getByTestId('search').fill(words);
      await page.locator('[data-testid=hits-of-runs][aria-busy=false]').waitFor();
      await frames(page);
      assert.deepEqual(await barriers(page), []);
      await pictured(page, `${scene}-${words.replaceAll(' ', '-')}-${theme}`);
      wellBehaved(faults);
    }
  };
}

suite['whoever asks for more contrast gets every edge, and with the system’s colours nothing that is chosen or measured is lost'] = async (world) => {
  const { page, faults } = await openScene(world.context, world.address, 'waiting', { hash: RUN });
  await page.getByTestId('approval').waitFor();
  const token = (name) => page.evaluate((wanted) => getComputedStyle(document.documentElement).getPropertyValue(wanted), name);
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ contrast: 'more', colorScheme });
    await frames(page);
    assert.equal(await token('--line'), await token('--control'));
    assert.deepEqual(await barriers(page), []);
    await pictured(page, `more-contrast-${colorScheme}`);
  }
  await page.emulateMedia({ contrast: null, forcedColors: 'active' });
  await frames(page);
  const seen = await page.evaluate(() => ({
    here: getComputedStyle(document.querySelector('[aria-current=page]')).outlineStyle,
    meter: getComputedStyle(document.querySelector('[data-testid=budget] .fill')).backgroundColor,
    window: getComputedStyle(document.body).backgroundColor,
  }));
  assert.equal(seen.here, 'solid');
  assert.notEqual(seen.meter, seen.window);
  await pictured(page, 'system-colours');
  wellBehaved(faults);
};

suite['nothing moves for a person who asked for less motion'] = async (world) => {
  for (const [motion, moves] of [['reduce', false], ['no-preference', true]]) {
    const { page } = await openScene(world.context, world.address, 'spliced', { hash: RUN, motion });
    await page.getByTestId('conversation').waitFor();
    await frames(page);
    assert.equal((await page.evaluate(() => document.getAnimations().length)) > 0, moves);
  }
};

suite['every control is reached by Tab and shows that it has the focus'] = async (world) => {
  const { page } = await openScene(world.context, world.address, 'waiting', { hash: RUN });
  await page.getByTestId('approval').waitFor();
  await frames(page);
  const reached = new Set();
  for (let step = 0; step < 60; step += 1) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate(() => {
      const element = document.activeElement;
      const style = getComputedStyle(element);
      const framed = getComputedStyle(element.parentElement);
      const seen = style.outlineStyle !== 'none' || framed.boxShadow !== 'none' || element === document.body;
      return { name: element.dataset.testid ?? element.getAttribute('aria-label') ?? element.tagName, seen };
    });
    assert.ok(at.seen, `no focus to be seen on ${at.name}`);
    reached.add(at.name);
  }
  for (const name of ['rail-runs', 'run-pause', 'approve', 'deny', 'steer-input']) assert.ok(reached.has(name), `${name} was not reached`);
};

export default suite;
