// Providers, theme, and what is said about this installation.
import assert from 'node:assert/strict';
import { callsOf, openScene, wellBehaved } from './world.mjs';

const theme = (page) => page.evaluate(() => document.documentElement.dataset.theme);

export default {
  'the theme follows the system until one is chosen, and the choice is there at the next start': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'list', { hash: '#/settings', theme: 'dark' });
    await page.getByTestId('settings').getByText('Theme').waitFor();
    assert.equal(await theme(page), 'dark');
    await page.emulateMedia({ colorScheme: 'light' });
    await page.waitForFunction(() => document.documentElement.dataset.theme === 'light');
    await page.getByTestId('theme-dark').click();
    assert.equal(await theme(page), 'dark');
    assert.deepEqual(await callsOf(page, 'setTheme'), [['dark']]);
    assert.equal(await page.evaluate(() => localStorage.getItem('longrein.theme')), 'dark');
    await page.getByTestId('theme-system').click();
    wellBehaved(faults);
  },

  'a provider is added with its key, tested and removed': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'list', { hash: '#/settings' });
    await page.getByTestId('provider-add').click();
    await page.getByTestId('provider-name').fill('Vllm');
    await page.getByTestId('provider-url').fill('http://127.0.0.1:9000/v1');
    await page.getByTestId('provider-key').fill('key-of-this-server');
    await page.getByTestId('provider-save').click();
    await page.getByText('Use lower-case letters').waitFor();
    await page.getByTestId('provider-name').fill('vllm');
    await page.getByTestId('provider-save').click();
    const provider = page.locator('[data-testid=provider][data-name=vllm]');
    await page.locator('[data-testid=key][data-name=vllm]').getByText('Ends in rver, in the keychain').waitFor();
    assert.deepEqual(await callsOf(page, 'setKey'), [['vllm', 'key-of-this-server']]);
    await provider.getByTestId('provider-test').click();
    await provider.getByTestId('provider-models').getByText('lists 3 models').waitFor();
    await provider.getByTestId('provider-remove').click();
    await provider.getByTestId('provider-remove-confirm').click();
    await provider.waitFor({ state: 'detached' });
    assert.equal(await page.locator('input[type=password]').count(), 0);
    wellBehaved(faults);
  },

  'a provider that is known by name says where it is and what it speaks, until a person says otherwise': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'list', { hash: '#/settings' });
    await page.getByTestId('provider-add').click();
    const [name, format, address] = ['name', 'format', 'url'].map((field) => page.getByTestId(`provider-${field}`));
    assert.equal(await format.locator('option').count(), 4);
    await name.fill('anthropic');
    assert.equal(await format.inputValue(), 'anthropic');
    assert.equal(await address.inputValue(), 'https://api.anthropic.com/v1');
    await name.fill('lab-of-mine');
    await format.selectOption('gemini');
    assert.equal(await address.inputValue(), 'https://generativelanguage.googleapis.com/v1beta');
    await address.fill('https://gateway.example.org/v1');
    await name.fill('openai');
    assert.equal(await format.inputValue(), 'gemini');
    assert.equal(await address.inputValue(), 'https://gateway.example.org/v1');
    wellBehaved(faults);
  },

  'a provider that refuses says what to do': async (world) => {
    const { page } = await openScene(world.context, world.address, 'refusals', { hash: '#/settings' });
    await page.locator('[data-testid=provider][data-name=lab]').getByTestId('provider-test').click();
    await page.getByText('lab refused the key (401).').waitFor();
    await page.getByText('Set LONGREIN_LAB_API_KEY').waitFor();
  },

  'settings that can’t be read don’t hide the runs': async (world) => {
    const { page } = await openScene(world.context, world.address, 'error', { hash: '#/settings' });
    await page.getByText('line 3 has no closing quote').waitFor();
    await page.getByTestId('rail-runs').click();
    await page.getByTestId('start-question').waitFor();
  },
};
