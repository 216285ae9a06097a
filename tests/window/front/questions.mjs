// What a server asks the person while an action uses it: a form, or a visit to a page.
import assert from 'node:assert/strict';
import { callsOf, openScene, RUN, wellBehaved } from './world.mjs';

const field = (page, name) => page.locator(`[data-testid=server-field][data-name=${name}]`);
const asked = async (page) => JSON.parse((await callsOf(page, 'answerServer')).at(-1)[4]);

export default {
  'a form of a server is filled in with the keyboard alone and sent as it was typed': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'server-form', { hash: RUN });
    await page.getByTestId('server-question').getByText('How should build-100m.sh be run?').waitFor();
    assert.match(await page.getByTestId('urgent').innerText(), /The server cluster asks: How should/);
    await page.keyboard.press('a');
    // The first field holds what the server proposes; an arrow goes on from it.
    for (const keys of ['Tab', 'ArrowDown', 'Tab', 'n', 'o', 'Tab', 'Control+a', '1', '2', 'Tab', '0', '.', '5', 'Tab', 'Tab', 'Space', 'Tab', 'Space', 'Tab', 'Space', 'Tab', 'Tab', 'x', 'Enter', 'y']) await page.keyboard.press(keys);
    assert.deepEqual(await callsOf(page, 'answerServer'), []);
    await page.keyboard.press('Control+Enter');
    await page.getByTestId('server-question').getByText('The queue is long').waitFor();
    const [[, , number, reply]] = await callsOf(page, 'answerServer');
    assert.deepEqual([number, reply], [1, 'given']);
    assert.deepEqual(await asked(page), { queue: 'week', node: 'n0', hours: '12', memory: '0.5', kinds: ['build', 'memory'], exclusive: 'true', note: 'x\ny' });
    wellBehaved(faults);
  },

  'each field of a form has a name and says what it means and what may be given': async (world) => {
    const { page } = await openScene(world.context, world.address, 'server-form', { hash: RUN });
    const card = page.getByTestId('server-question');
    for (const [role, name, about] of [
      ['group', 'Queue', 'Longer queues wait longer.'],
      ['combobox', 'Node', ''],
      ['textbox', 'Hours', 'A whole number, from 1 to 24.'],
      ['textbox', 'Memory in GiB may be left out', 'A number, at least 0.5.'],
      ['group', 'What to measure', 'Choose from 1 to 2.'],
      ['group', 'The whole node', 'Nobody else works on it meanwhile.'],
      ['textbox', 'Tell by e-mail may be left out', 'An address of e-mail, such as ann@example.org.'],
      ['textbox', 'Note for the operators may be left out', 'A text, at most 200 characters long.'],
    ]) {
      const found = card.getByRole(role, { name, exact: true });
      await found.waitFor();
      const told = await found.evaluate((element) => (element.getAttribute('aria-describedby') ?? '').split(' ').map((id) => document.getElementById(id)?.innerText ?? '').join(' '));
      assert.equal(told, about, name);
    }
    assert.equal(await card.getByRole('radio', { name: 'Up to a day' }).isChecked(), true);
    // What has to be said can't be taken back, and what may be left out can.
    assert.equal(await field(page, 'exclusive').getByText('Not said').count(), 0);
  },

  'what a server does not take is told in place, and what was typed stays': async (world) => {
    const { page } = await openScene(world.context, world.address, 'server-form', { hash: RUN });
    await page.evaluate(() => (globalThis.fake.answerServer = () => Promise.reject(new Error('“Hours” has to be a whole number, from 1 to 24.'))));
    const hours = page.getByRole('textbox', { name: 'Hours' });
    await hours.fill('a few');
    await hours.press('Control+Enter');
    await page.getByTestId('answer-error').getByText('“Hours” has to be a whole number').waitFor();
    assert.equal(await hours.inputValue(), 'a few');
    // Looked away from and back.
    await page.getByTestId('rail-settings').click();
    await page.goBack();
    assert.equal(await page.getByRole('textbox', { name: 'Hours' }).inputValue(), 'a few');
  },

  'a server is told no, or nothing, and its next question begins anew': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'server-form', { hash: RUN });
    await page.getByTestId('server-decline').click();
    const card = page.getByTestId('server-question');
    await card.getByText('The queue is long').waitFor();
    assert.equal(await page.getByTestId('server-field').count(), 0);
    assert.equal(await page.getByTestId('server-send').innerText().then((text) => text.includes('Agree')), true);
    await page.getByTestId('server-dismiss').click();
    await card.waitFor({ state: 'detached' });
    assert.deepEqual((await callsOf(page, 'answerServer')).map(([, , ...said]) => said), [[1, 'declined', ''], [2, 'dismissed', '']]);
    wellBehaved(faults);
  },

  'a page that a server wants visited is shown with its host, and opened only when it is said so': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'server-visit', { hash: RUN });
    assert.equal(await page.getByTestId('asked-host').innerText(), 'login.cluster.example.org');
    await page.getByText('https://login.cluster.example.org/device?client=longrein&scope=submit%20status&state=3f9a01b7c2d84e6f').waitFor();
    await page.keyboard.press('a');
    for (const keys of ['Enter', 'Control+Enter']) await page.keyboard.press(keys);
    assert.deepEqual([await callsOf(page, 'openAskedPage'), await callsOf(page, 'answerServer'), await callsOf(page, 'openLink')], [[], [], []]);
    await page.getByTestId('server-open').click();
    await page.getByTestId('server-question').waitFor({ state: 'detached' });
    assert.equal((await callsOf(page, 'openAskedPage')).length, 1);
    assert.deepEqual((await callsOf(page, 'answerServer'))[0].slice(2), [1, 'given', '']);
    wellBehaved(faults);
  },

  'a page that can’t be opened answers nothing, and one that was visited is not opened again': async (world) => {
    const { page } = await openScene(world.context, world.address, 'server-visit', { hash: RUN });
    await page.evaluate(() => (globalThis.fake.openAskedPage = () => Promise.reject(new Error('No browser can be opened.'))));
    await page.getByTestId('server-open').click();
    await page.getByTestId('answer-error').getByText('No browser can be opened.').waitFor();
    assert.deepEqual(await callsOf(page, 'answerServer'), []);
    await page.getByTestId('server-visited').click();
    await page.getByTestId('server-question').waitFor({ state: 'detached' });
    assert.deepEqual((await callsOf(page, 'answerServer'))[0].slice(2), [1, 'given', '']);
  },

  'a card tells what servers asked, also what nobody was asked': async (world) => {
    const { page, faults } = await openScene(world.context, world.address, 'server-questions', { hash: RUN, height: 1_600 });
    const card = page.getByTestId('tool-card').filter({ hasText: 'cluster.submit' });
    await card.getByText('question refused').waitFor();
    assert.equal(await page.getByTestId('server-question').count(), 0);
    await card.locator('button').first().click();
    await card.locator('[data-state=refused]').getByText('It asks for a secret').waitFor();
    await card.locator('[data-state=answered]').getByText('{"hours":6}').waitFor();
    await card.locator('[data-state=declined]').getByText('You said no.').waitFor();
    wellBehaved(faults);
  },
};
