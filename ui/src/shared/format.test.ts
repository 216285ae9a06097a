import { describe, expect, it } from 'vitest';
import { age, bytes, count, dayGroup, dollars, duration, plural } from './format';

const MINUTE = 60_000;

describe('words for numbers', () => {
  it.each([[0, '0'], [840, '840'], [1_000, '1k'], [1_240, '1.2k'], [9_949, '9.9k'], [9_950, '10k'], [21_480, '21k'], [999_499, '999k'], [999_500, '1M'], [1_400_000, '1.4M']])('counts %i as %s', (number, words) => {
    expect(count(number)).toBe(words);
  });

  it.each([[3, '3 ms'], [999, '999 ms'], [1_000, '1 s'], [1_840, '1.8 s'], [59_400, '59 s'], [59_600, '1 min'], [125_000, '2 min 5 s'], [3_600_000, '1 h'], [3_840_000, '1 h 4 min']])('calls %i ms %s', (ms, words) => {
    expect(duration(ms)).toBe(words);
  });

  it.each([[0, '$0.00'], [900, '$0.0009'], [9_999, '$0.009999'], [10_000, '$0.01'], [46_300, '$0.05'], [3_000_000, '$3.00'], [1_234_500_000, '$1,234.50']])('calls %i millionths of a dollar %s', (micro, words) => {
    expect(dollars(micro)).toBe(words);
  });

  it.each([[512, '512 B'], [3_120, '3 KB'], [84_210, '84 KB'], [999_500, '1 MB'], [21_480_000, '21.5 MB']])('calls %i bytes %s', (size, words) => {
    expect(bytes(size)).toBe(words);
  });

  it('tells how long ago something began, and never a negative age', () => {
    const now = 1_000 * MINUTE;
    expect(age(now + MINUTE, now)).toBe('just now');
    expect(age(now - 4 * MINUTE, now)).toBe('4 min');
    expect(age(now - 130 * MINUTE, now)).toBe('2 h');
    expect(age(now - 3 * 1_440 * MINUTE, now)).toBe('3 d');
  });

  it('says one step and two steps', () => {
    expect(plural(1, 'step')).toBe('1 step');
    expect(plural(2, 'step')).toBe('2 steps');
  });

  it('groups by the day of the person’s own clock', () => {
    const now = new Date(2026, 10, 26, 9, 0).getTime();
    expect(dayGroup(new Date(2026, 10, 26, 0, 0).getTime(), now)).toBe('Today');
    expect(dayGroup(new Date(2026, 10, 25, 23, 59).getTime(), now)).toBe('Yesterday');
    expect(dayGroup(new Date(2026, 10, 22, 12, 0).getTime(), now)).toBe('This week');
    expect(dayGroup(new Date(2026, 9, 1).getTime(), now)).toBe('Earlier');
  });
});
