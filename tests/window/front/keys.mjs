// Keys in the settings: where each comes from, and what a person does with them.
import assert from 'node:assert/strict';
import { callsOf, openScene, wellBehaved } from './world.mjs';

const KEY = 'sk-0123456789abcdwxyz';

const settings = (world, scene, more = {}) => openScene(world.context, world.address, scene, { hash: '#/settings', ...more });
const key = (page, name) => page.locator(`[data-testid=key][data-name=${name}]`);
/** Everything that a person or a screen reader could find of a text in the window. */
const holds = (page, text) =>
  page.evaluate((wanted) => document.documentElement.outerHTML.includes(wanted) || [...document.querySelectorAll('input')].some((field) => field.value.includes(wanted)), text);

export default {
  'each key says where it comes from, and one of the environment can’t be changed here': async (world) => {
    const { page, faults } = await settings(world, 'list');
    await key(page, 'lab').getByText('Ends in w2Kp, in the variable LONGREIN_LAB_API_KEY').waitFor();
    await key(page, 'lab').getByText('It overrides the one in the keychain, which ends in q8Zd.').waitFor();
    assert.equal(await key(page, 'lab').getByTestId('key-set').count(), 0);
    await key(page, 'local').getByText('None. Many local servers need none.').waitFor();
    await key(page, 'exa-token').getByText('for exa').waitFor();
    await key(page, 'old-gateway').getByText('not used').waitFor();
    wellBehaved(faults);
  },

  'a key is typed once, handed over and stays nowhere in the window': async (world) => {
    const { page, faults } = await settings(world, 'list');
    await key(page, 'local').getByTestId('key-set').focus();
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), 'key-input');
    await page.keyboard.type(KEY);
    await page.keyboard.press('Enter');
    await key(page, 'local').getByText('Ends in wxyz, in the keychain').waitFor();
    assert.deepEqual(await callsOf(page, 'setKey'), [['local', KEY]]);
    assert.equal(await holds(page, KEY), false);
    await key(page, 'local').getByTestId('key-set').getByText('Replace').waitFor();
    await key(page, 'local').getByTestId('key-test').click();
    await key(page, 'local').getByText('It answers and lists 3 models.').waitFor();
    await key(page, 'local').getByTestId('key-remove').click();
    assert.deepEqual(await callsOf(page, 'removeKey'), []);
    await key(page, 'local').getByTestId('key-remove-confirm').click();
    await key(page, 'local').getByText('None. Many local').waitFor();
    wellBehaved(faults);
  },

  'a key that is refused is said in place, and has to be given again': async (world) => {
    const { page } = await settings(world, 'list');
    await key(page, 'local').getByTestId('key-set').click();
    await page.getByTestId('key-input').fill('Bearer sk-0123456789');
    await page.getByTestId('key-save').click();
    await key(page, 'local').getByRole('alert').getByText('It has a space in it.').waitFor();
    assert.equal(await page.getByTestId('key-input').inputValue(), '');
    assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), 'key-input');
    await page.getByTestId('key-input').fill('sk-ant-0123456789');
    await page.getByTestId('key-save').click();
    await key(page, 'local').getByText('This looks like a key of Anthropic. It is kept all the same.').waitFor();
    await key(page, 'local').getByTestId('key-set').click();
    await page.getByTestId('key-input').fill(KEY);
    await page.keyboard.press('Escape');
    await page.getByTestId('key-input').waitFor({ state: 'detached' });
    assert.equal((await callsOf(page, 'setKey')).length, 2);
  },

  'without a keychain a sentence says so, and both other places work': async (world) => {
    const { page, faults } = await settings(world, 'keys-unavailable');
    await page.getByTestId('key-place-problem').getByText('this session has no D-Bus').waitFor();
    await page.getByTestId('key-place-file').click();
    await page.getByTestId('passphrase-new').fill('correct horse');
    await page.getByTestId('passphrase-again').fill('correct house');
    await page.getByTestId('key-dialog-confirm').click();
    await page.getByText('These are two different passphrases.').waitFor();
    await page.getByTestId('passphrase-again').fill('correct horse');
    await page.getByTestId('key-dialog-confirm').click();
    await page.locator('[data-testid=key-place][data-backend=file][data-standing=ready]').waitFor();
    assert.deepEqual(await callsOf(page, 'chooseKeyPlace'), [[{ backend: 'file', passphrase: 'correct horse', take_along: false }]]);
    await page.getByTestId('key-place-memory').click();
    await page.getByText('Nothing is written down').first().waitFor();
    await page.getByTestId('key-dialog-confirm').click();
    await page.locator('[data-testid=key-place][data-backend=memory]').waitFor();
    assert.equal(await holds(page, 'correct horse'), false);
    wellBehaved(faults);
  },

  'what is kept is taken along, and the choice is made by keyboard alone': async (world) => {
    const { page } = await settings(world, 'list');
    await page.getByTestId('key-place-keychain').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    assert.deepEqual(await callsOf(page, 'chooseKeyPlace'), []);
    await page.keyboard.press('Enter');
    await page.getByText('Take along what is kept now (3 secrets)').waitFor();
    await page.keyboard.press('Escape');
    await page.getByTestId('key-dialog').waitFor({ state: 'detached' });
    await page.getByTestId('key-place-memory').press('Space');
    await page.getByTestId('key-dialog-confirm').click();
    await key(page, 'exa-token').getByText('Ends in 77fe, in memory only').waitFor();
    assert.deepEqual(await callsOf(page, 'chooseKeyPlace'), [[{ backend: 'memory', passphrase: null, take_along: true }]]);
  },

  'a closed file asks for its passphrase before a key is typed': async (world) => {
    const { page, faults } = await settings(world, 'keys-locked');
    await key(page, 'local').getByText('Not shown until the file is open.').waitFor();
    await key(page, 'local').getByTestId('key-set').click();
    assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), 'passphrase-old');
    await page.keyboard.type('not this');
    await page.keyboard.press('Enter');
    await page.getByTestId('key-dialog').getByText('does not open').waitFor();
    await page.keyboard.type('four words of it');
    await page.keyboard.press('Enter');
    await page.getByTestId('key-input').waitFor();
    await page.getByTestId('keys-lock').click();
    await page.locator('[data-testid=key-place][data-standing=locked]').waitFor();
    wellBehaved(faults);
    const fresh = await settings(world, 'keys-new');
    await fresh.page.getByTestId('keys-begin').click();
    await fresh.page.getByTestId('passphrase-new').fill('short');
    await fresh.page.getByTestId('passphrase-again').fill('short');
    await fresh.page.getByTestId('key-dialog-confirm').click();
    await fresh.page.getByText('Take at least 8 letters').waitFor();
  },

  'a locked keychain is unlocked by the system, and a passphrase is changed by who knows it': async (world) => {
    const { page } = await settings(world, 'keys-keychain-locked');
    await key(page, 'local').getByText('Not shown until the keychain is unlocked.').waitFor();
    await page.getByTestId('keys-unlock').click();
    await key(page, 'exa-token').getByText('Ends in 77fe').waitFor();
    assert.deepEqual(await callsOf(page, 'unlockKeys'), [[null]]);
    const open = await settings(world, 'keys-open');
    await open.page.getByTestId('keys-change').click();
    await open.page.getByTestId('passphrase-old').fill('four words of it');
    await open.page.getByTestId('passphrase-new').fill('four other words');
    await open.page.getByTestId('passphrase-again').fill('four other words');
    await open.page.getByTestId('key-dialog-confirm').click();
    await open.page.getByTestId('key-dialog').waitFor({ state: 'detached' });
    assert.deepEqual(await callsOf(open.page, 'changePassphrase'), [['four words of it', 'four other words']]);
  },

  'what fails is said beside what was tried': async (world) => {
    const { page } = await settings(world, 'keys-failing');
    await key(page, 'lab').getByTestId('key-test').click();
    await key(page, 'lab').getByText('lab refused the key (401).').waitFor();
    await page.getByTestId('key-place-memory').click();
    await page.getByTestId('key-dialog-confirm').click();
    await page.getByTestId('key-dialog').getByText('There is no closing quote').waitFor();
    const unreadable = await settings(world, 'keys-unreadable');
    await unreadable.page.getByText('The keys can’t be listed').waitFor();
    await unreadable.page.getByTestId('theme-dark').waitFor();
  },

  'nothing is cut at twice the size of letters': async (world) => {
    for (const scene of ['list', 'keys-unavailable', 'keys-open']) {
      const { page, faults } = await settings(world, scene, { width: 640, height: 400 });
      await page.getByTestId('keys-section').waitFor();
      await key(page, 'local').waitFor();
      const wide = await page.getByTestId('keys-section').evaluate((section) => [section, ...section.querySelectorAll('*')].filter((part) => part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 0 && getComputedStyle(part).overflowX === 'visible').map((part) => part.className));
      assert.deepEqual(wide, [], scene);
      wellBehaved(faults);
    }
  },
};
