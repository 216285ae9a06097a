import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { colours, contrast } from './contrast';

/** The least contrast of text on its ground (WCAG AAA), of words that ask for no reading (AA), and
    of lines that carry a meaning. */
const TEXT = 7;
const MUTED = 4.5;
const GRAPHIC = 3;

const css = readFileSync('src/shared/tokens.css', 'utf8');
const [lightPart, darkPart] = css.split(":root[data-theme='dark']");
const themes = { light: colours(lightPart ?? ''), dark: colours(darkPart ?? '') };

const GROUNDS = ['paper', 'panel', 'raised', 'sunken', 'hover'];
const INKS = ['ink', 'soft', 'faint', 'rein-ink', 'run', 'wait', 'good', 'bad', 'wild'];
const STATES = ['run', 'wait', 'good', 'bad', 'wild'];

describe.each(Object.entries(themes))('the %s theme', (_, theme) => {
  const at = (name: string) => theme.get(name) ?? expect.fail(`no colour ${name}`);
  const holds = (ink: string, ground: string, least: number) => expect(contrast(at(ink), at(ground)), `${ink} on ${ground}`).toBeGreaterThanOrEqual(least);

  it('reads at AAA for every ink on every ground', () => {
    for (const ink of INKS) for (const ground of GROUNDS) holds(ink, ground, TEXT);
  });

  it('reads at AAA for a state on its own soft ground', () => {
    for (const state of STATES) for (const ink of [state, 'ink', 'soft']) holds(ink, `${state}-soft`, TEXT);
    for (const ink of ['rein-ink', 'ink', 'soft']) holds(ink, 'rein-soft', TEXT);
  });

  it('reads at AAA for paper on a filled ground', () => {
    for (const ground of ['ink', 'rein-ink', 'wait', 'good']) holds('paper', ground, TEXT);
  });

  it('reads at AA where a field is empty or a control is off', () => {
    for (const ground of GROUNDS) holds('mute', ground, MUTED);
  });

  it('shows the rein, the sections and the edges of fields at three to one', () => {
    const sections = [...theme.keys()].filter((name) => name.startsWith('section-'));
    expect(sections).toHaveLength(7);
    for (const line of ['rein', 'control', ...sections]) for (const ground of ['paper', 'panel', 'raised']) holds(line, ground, GRAPHIC);
  });

  it('defines the same colours as the other', () => {
    expect([...theme.keys()].sort()).toEqual([...themes.light.keys()].sort());
  });
});

/** The rows of the tables in `docs/design.md`, measured. */
const figure = (value: number) => (Math.floor(value * 10) / 10).toFixed(1);
const on = (theme: Map<string, string>, ink: string, ground: string) => contrast(theme.get(ink) ?? '#000000', theme.get(ground) ?? '#000000');

function inkRow(ink: string, use: string): string {
  const parts = Object.values(themes).map((theme) => {
    const least = Math.min(...GROUNDS.map((ground) => on(theme, ink, ground)));
    return `\`${theme.get(ink)}\` | ${figure(on(theme, ink, 'paper'))} | ${figure(least)}`;
  });
  return `| \`--${ink}\` | ${use} | ${parts.join(' | ')} |`;
}

function pairRow(words: string, measure: (theme: Map<string, string>) => number): string {
  return `| ${words} | ${Object.values(themes).map((theme) => figure(measure(theme))).join(' | ')} |`;
}

const USES: [string, string][] = [
  ['ink', 'text'],
  ['soft', 'second text'],
  ['faint', 'notes, times'],
  ['mute', 'empty fields, what is off'],
  ['rein-ink', 'links, source ids'],
  ['run', 'at work'],
  ['wait', 'waits for a person'],
  ['good', 'holds'],
  ['bad', 'went wrong'],
  ['wild', 'untrusted'],
];

const TABLES = [
  '| token | for | light | on paper | least | dark | on paper | least |',
  '|---|---|---|--:|--:|---|--:|--:|',
  ...USES.map(([ink, use]) => inkRow(ink, use)),
  '',
  '| pair | light | dark |',
  '|---|--:|--:|',
  ...STATES.map((state) => pairRow(`\`--${state}\` on \`--${state}-soft\``, (theme) => on(theme, state, `${state}-soft`))),
  pairRow('`--rein-ink` on `--rein-soft`', (theme) => on(theme, 'rein-ink', 'rein-soft')),
  pairRow('`--paper` on `--ink` (the primary button)', (theme) => on(theme, 'paper', 'ink')),
  pairRow('`--rein` (the line) on `--paper`', (theme) => on(theme, 'rein', 'paper')),
  pairRow('`--run` (the ring of the focus) on `--hover`', (theme) => on(theme, 'run', 'hover')),
  pairRow('`--control` (edges of fields) on `--raised`', (theme) => on(theme, 'control', 'raised')),
  pairRow('least of the seven sections on `--panel`', (theme) => Math.min(...[...theme.keys()].filter((name) => name.startsWith('section-')).map((name) => on(theme, name, 'panel')))),
].join('\n');

/** Stand around the tables; `UPDATE_DESIGN=1` writes what is between them. */
const [BEGIN, END] = ['<!-- contrast: measured from the tokens -->\n', '\n<!-- end of contrast -->'];
const DOC = '../docs/design.md';

describe('docs/design.md', () => {
  it('gives the contrast that the tokens have', () => {
    const doc = readFileSync(DOC, 'utf8');
    const [from, to] = [doc.indexOf(BEGIN) + BEGIN.length, doc.indexOf(END)];
    expect(to, 'the marks around the tables').toBeGreaterThan(from);
    if (process.env['UPDATE_DESIGN'] === '1') writeFileSync(DOC, doc.slice(0, from) + TABLES + doc.slice(to));
    else expect(doc.slice(from, to), 'UPDATE_DESIGN=1 npm test writes what is measured').toBe(TABLES);
  });
});
