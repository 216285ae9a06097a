import { describe, expect, it } from 'vitest';
import { isPressed, keyCaps } from './keys';

const press = (key: string, more: KeyboardEventInit = {}) => new KeyboardEvent('keydown', { key, ...more });

describe('shortcuts', () => {
  it('take Control here and Command on a Mac', () => {
    expect(isPressed('Mod+K', press('k', { ctrlKey: true }), false)).toBe(true);
    expect(isPressed('Mod+K', press('k', { metaKey: true }), false)).toBe(false);
    expect(isPressed('Mod+K', press('k', { metaKey: true }), true)).toBe(true);
    expect(keyCaps('Mod+K', true)).toEqual(['Cmd', 'K']);
    expect(keyCaps('Mod+Comma', false)).toEqual(['Ctrl', ',']);
  });

  it('are not pressed with another modifier', () => {
    expect(isPressed('S', press('s', { ctrlKey: true }), false)).toBe(false);
    expect(isPressed('S', press('S', { shiftKey: true }), false)).toBe(false);
    expect(isPressed('Mod+Enter', press('Enter'), false)).toBe(false);
    expect(isPressed('Mod+Enter', press('Enter', { ctrlKey: true }), false)).toBe(true);
  });

  it('let a sign be typed the way the keyboard has it', () => {
    expect(isPressed('?', press('?', { shiftKey: true }), false)).toBe(true);
    expect(isPressed('?', press('?'), false)).toBe(true);
  });
});
