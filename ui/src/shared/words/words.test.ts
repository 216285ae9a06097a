import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'svelte/compiler';
import { describe, expect, it } from 'vitest';
import { counted } from './counted';

/** Where components are that a person sees; the gallery is for those who make them. */
const FOLDERS = ['src/app', 'src/features', 'src/shared'];

/** Attributes that a person reads or hears. */
const READ = new Set(['title', 'aria-label', 'placeholder', 'label', 'alt', 'words', 'what', 'aria-valuetext', 'say', 'note', 'hint', 'remedy']);
/** A text that means something in a language: two letters on end. */
const WORDS = /\p{L}{2}/u;
/** Text of a program that looks like words of a language: one that begins large, or has a space between words. */
const SENTENCE = /^\p{Lu}\p{Ll}+|\p{L}{2,}[,.:]? \p{L}/u;
/** What looks like words and is none: classes, colours, selectors, keys. */
const NO_WORDS = /^(Arrow\w+|Home|End|Escape|Enter|Page\w+|Space|\w+\+\w+|var\(.*|M[\d ].*)$/;

interface Node {
  type: string;
  [key: string]: unknown;
}

/** The literal words of a component, each with what it stands in. */
function literals(source: string): string[] {
  const found: string[] = [];
  const visit = (node: unknown, inside: string): void => {
    if (Array.isArray(node)) {
      for (const child of node) visit(child, inside);
      return;
    }
    if (typeof node !== 'object' || node === null || !('type' in node)) return;
    const { type } = node as Node;
    if (type === 'StyleSheet' || type === 'Style' || type === 'Comment' || type === 'ImportDeclaration') return;
    if (type === 'Text' && inside === 'markup' && WORDS.test(String((node as Node)['data']))) found.push(`text: ${String((node as Node)['data']).trim()}`);
    if (type === 'Attribute') {
      const name = String((node as Node)['name']);
      const value = (node as Node)['value'];
      if (READ.has(name)) {
        const texts = (Array.isArray(value) ? value : [value]) as Node[];
        for (const part of texts) if (part?.type === 'Text' && WORDS.test(String(part['data']))) found.push(`${name}: ${String(part['data'])}`);
      }
      visit(value, 'attribute');
      return;
    }
    if (type === 'Literal' && typeof (node as Node)['value'] === 'string') {
      const value = String((node as Node)['value']);
      if (SENTENCE.test(value) && !NO_WORDS.test(value)) found.push(`string: ${value}`);
    }
    if (type === 'TemplateElement') {
      const { cooked } = (node as unknown as { value: { cooked: string } }).value;
      if (inside !== 'attribute' && SENTENCE.test(cooked.trim())) found.push(`template: ${cooked}`);
    }
    for (const [key, child] of Object.entries(node)) {
      if (key === 'css' || key === 'metadata' || key === 'loc') continue;
      visit(child, key === 'fragment' || key === 'nodes' || key === 'children' ? 'markup' : key === 'instance' || key === 'module' ? 'script' : inside);
    }
  };
  visit(parse(source, { modern: true }), 'markup');
  return found;
}

const components = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.svelte'))
    .map((path) => join(folder, path));

describe('the words of the window', () => {
  it('are found where a component holds some of its own', () => {
    expect(literals('<p>Some words</p>')).toEqual(['text: Some words']);
    expect(literals('<button aria-label="Close it" class="some class">×</button>')).toEqual(['aria-label: Close it']);
    expect(literals("<script>const a = 'Not here'; const b = 'plain'; const c = `So many ${b} of them`;</script>{a}")).toEqual(['string: Not here', 'template: So many ', 'template:  of them']);
    expect(literals('<style>p { color: red }</style><p>{x}</p>')).toEqual([]);
  });

  it.each(FOLDERS.flatMap(components))('are those of the catalogue in %s', (path) => {
    expect(literals(readFileSync(path, 'utf8'))).toEqual([]);
  });

  it('have the form that the language has for a number', () => {
    const steps = { one: (number: string) => `${number} step`, other: (number: string) => `${number} steps` };
    expect([0, 1, 2, 1_204].map((number) => counted(number, steps))).toEqual(['0 steps', '1 step', '2 steps', '1,204 steps']);
  });
});
