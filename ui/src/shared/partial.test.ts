import { describe, expect, it } from 'vitest';
import { partial } from './partial';

describe('JSON that was cut', () => {
  const whole = { path: 'a "b".html', content: 'line\nü \u{1F600} \\', n: 12, list: [{ text: 'x', state: 'done' }, { text: 'y' }], yes: true, none: null };
  const json = JSON.stringify(whole, null, 2);

  it('is what it is where nothing was cut', () => {
    expect(partial(json)).toEqual(whole);
  });

  it('is read as far as it goes wherever it was cut', () => {
    for (let end = 1; end < json.length; end += 1) {
      const read = partial(json.slice(0, end)) as Record<string, unknown>;
      for (const [key, value] of Object.entries(read)) {
        const expected = whole[key as keyof typeof whole];
        if (typeof value === 'string') expect(String(expected).startsWith(value)).toBe(true);
        else if (!Array.isArray(value)) expect(value).toEqual(expected);
      }
    }
  });

  it('says nothing of what is no JSON, and does not go too deep', () => {
    expect(partial('')).toBeUndefined();
    expect(partial('well')).toBeUndefined();
    expect(() => partial('['.repeat(100_000))).not.toThrow();
  });

  it('takes a name like any other', () => {
    expect(Object.keys(partial('{"__proto__": 1, "a": 2}') as object)).toEqual(['__proto__', 'a']);
  });
});
