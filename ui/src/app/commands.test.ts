import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { App } from './app.svelte';

let table: typeof import('./commands');

beforeAll(async () => {
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => undefined }));
  table = await import('./commands');
});

const still = { palette: false, shortcuts: false, cancelling: false, quitting: null, run: null, replay: null, comparing: null, deleting: null };
const world = (more: object = {}) => ({ ...still, focus: vi.fn(), router: { go: vi.fn() }, ...more }) as unknown as App;
const key = (name: string, more: KeyboardEventInit = {}) => new KeyboardEvent('keydown', { key: name, cancelable: true, ...more });

describe('the table of commands', () => {
  it('has each id and each shortcut once', () => {
    const ids = table.COMMANDS.map((entry) => entry.id);
    const keys = table.COMMANDS.flatMap((entry) => entry.keys ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('offers deeds on a run only where there is one', () => {
    for (const entry of table.COMMANDS) if (entry.group === 'run' || entry.group === 'replay') expect(entry.offered(world())).toBe(false);
  });

  it('gives no shortcut to an answer: an approval is never one key away', () => {
    expect(table.COMMANDS.some((entry) => /approve|deny/i.test(entry.title))).toBe(false);
  });

  it('leaves letters to the field that is typed in', () => {
    const app = world();
    const field = document.body.appendChild(document.createElement('textarea'));
    field.addEventListener('keydown', (event) => table.handleKey(app, event));
    const typed = key('?');
    field.dispatchEvent(typed);
    expect(typed.defaultPrevented).toBe(false);
    expect(app.shortcuts).toBe(false);
    const palette = key('k', { ctrlKey: true });
    field.dispatchEvent(palette);
    expect(palette.defaultPrevented).toBe(true);
    expect(app.palette).toBe(true);
  });

  it('leaves the keyboard to a dialog', () => {
    const app = world({ cancelling: true });
    const pressed = key('1', { ctrlKey: true });
    table.handleKey(app, pressed);
    expect(pressed.defaultPrevented).toBe(false);
  });
});
