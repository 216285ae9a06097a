import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** What a component may change of a class that belongs to everybody: where it stands, not what it is. */
const PLACING = /^(margin|flex|width|min-|max-|height|grid-|align-|justify-)/;

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.svelte'))
  .sort()
  .map((path) => ({ path, style: styleOf(readFileSync(join('src', path), 'utf8')) }));

function styleOf(text: string): string {
  return (/<style>(.*)<\/style>/s.exec(text)?.[1] ?? '').replace(/\/\*.*?\*\//gs, '');
}

const base = readFileSync('src/shared/base.css', 'utf8').replace(/\/\*.*?\*\//gs, '');
/** The classes that `base.css` gives to the whole window. */
const shared = new Set([...base.matchAll(/^\.([a-z][\w-]*)(?=[\s,{])/gm)].map((match) => match[1] ?? ''));

/** Every declaration of a style: selector, property and value. */
function declarations(style: string): [string, string, string][] {
  return [...style.matchAll(/([^{};]+)\{([^{}]*)\}/g)].flatMap((rule) =>
    (rule[2] ?? '')
      .split(';')
      .map((line) => line.split(':'))
      .filter((parts) => parts.length > 1)
      .map(([property, ...value]): [string, string, string] => [(rule[1] ?? '').trim(), (property ?? '').trim(), value.join(':').trim()]),
  );
}

/** What every component says that a rule does not allow, as `file: selector { property: value }`. */
function against(allows: (selector: string, property: string, value: string) => boolean): string[] {
  return sources.flatMap(({ path, style }) =>
    declarations(style)
      .filter(([selector, property, value]) => !allows(selector, property, value))
      .map(([selector, property, value]) => `${path}: ${selector.replace(/\s+/g, ' ')} { ${property}: ${value} }`),
  );
}

describe('the style of every component', () => {
  it('is found', () => {
    expect(sources.length).toBeGreaterThan(60);
    expect(shared.size).toBeGreaterThan(12);
  });

  it('takes its sizes of text from the tokens', () => {
    expect(against((_, property, value) => property !== 'font-size' || /^var\(--text-[a-z]+\)$|^0\.\d+em$/.test(value))).toEqual([]);
  });

  it('takes its colours and shadows from the tokens', () => {
    expect(against((_, __, value) => !/#[0-9a-f]{3,8}\b|\b(rgb|hsl|oklch)a?\(/.test(value))).toEqual([]);
  });

  it('takes its corners from the tokens', () => {
    expect(against((_, property, value) => !property.endsWith('radius') || value.split(' ').every((part) => /^(var\(--radius[a-z-]*\)|0|50%|inherit)$/.test(part)))).toEqual([]);
  });

  it('takes the time of what changes from the tokens', () => {
    expect(against((_, property, value) => property !== 'transition' || !/\b\d+m?s\b/.test(value))).toEqual([]);
  });

  it('gives no other meaning to a class of the whole window', () => {
    const clash = (selector: string) => selector.split(',').some((part) => shared.has(/^\s*\.([a-z][\w-]*)\s*$/.exec(part)?.[1] ?? ''));
    expect(against((selector, property) => !clash(selector) || PLACING.test(property))).toEqual([]);
  });
});
