import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** The least contrast of text on its ground (WCAG AA), and of lines that carry a meaning. */
const TEXT = 4.5;
const GRAPHIC = 3;

const css = readFileSync('src/shared/tokens.css', 'utf8');
const [lightPart, darkPart] = css.split(":root[data-theme='dark']");
const themes = { light: colours(lightPart ?? ''), dark: colours(darkPart ?? '') };

function colours(part: string): Map<string, string> {
  return new Map([...part.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g)].map((match) => [match[1] ?? '', match[2] ?? '']));
}

function luminance(colour: string): number {
  const channel = (at: number) => {
    const value = parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

function contrast(a: string, b: string): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

const GROUNDS = ['paper', 'panel', 'raised', 'sunken', 'hover'];
const INKS = ['ink', 'soft', 'faint', 'rein-ink', 'run', 'wait', 'good', 'bad', 'wild'];

describe.each(Object.entries(themes))('the %s theme', (_, theme) => {
  const at = (name: string) => theme.get(name) ?? expect.fail(`no colour ${name}`);

  it('reads at AA for every ink on every ground', () => {
    for (const ink of INKS) {
      for (const ground of GROUNDS) expect(contrast(at(ink), at(ground)), `${ink} on ${ground}`).toBeGreaterThanOrEqual(TEXT);
    }
  });

  it('reads at AA for a state on its own soft ground', () => {
    for (const state of ['run', 'wait', 'good', 'bad', 'wild']) {
      for (const ink of [state, 'ink', 'soft']) expect(contrast(at(ink), at(`${state}-soft`)), `${ink} on ${state}-soft`).toBeGreaterThanOrEqual(TEXT);
    }
    for (const ink of ['rein-ink', 'ink', 'soft']) expect(contrast(at(ink), at('rein-soft')), `${ink} on rein-soft`).toBeGreaterThanOrEqual(TEXT);
  });

  it('reads at AA for paper on a filled ground', () => {
    for (const ground of ['ink', 'rein-ink', 'wait', 'good']) expect(contrast(at('paper'), at(ground)), `paper on ${ground}`).toBeGreaterThanOrEqual(TEXT);
  });

  it('shows the rein, the sections and the edges of fields at three to one', () => {
    const sections = [...theme.keys()].filter((name) => name.startsWith('section-'));
    expect(sections).toHaveLength(7);
    for (const line of ['rein', 'control', ...sections]) {
      for (const ground of ['paper', 'panel', 'raised']) expect(contrast(at(line), at(ground)), `${line} on ${ground}`).toBeGreaterThanOrEqual(GRAPHIC);
    }
  });

  it('defines the same colours as the other', () => {
    expect([...theme.keys()].sort()).toEqual([...themes.light.keys()].sort());
  });
});
