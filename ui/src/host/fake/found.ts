import type { ComparedRow, ComparedRows, ComparedStep, Comparison, Row, Search, SearchHit, SearchPage } from '../bindings';
import { HostError } from '../host';
import type { Story } from './story';

/** What can be found in stories, and two of them side by side. */

const HITS = 20;
const AROUND = 90;

function textsOf(row: Row): [kind: string, text: string][] {
  switch (row.content.kind) {
    case 'question':
      return [['you', row.content.text]];
    case 'answer':
      return [['answer', row.content.text]];
    case 'action':
      return [['request', `${row.content.tool} ${row.content.brief}`], ['result', row.content.result]];
    default:
      return [];
  }
}

/** A phrase as whole words. */
function wordsOf(phrase: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])${phrase.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\p{L}\\p{N}])`, 'gu');
}

export function find(stories: readonly Story[], search: Search): SearchPage {
  const phrases = [...search.words.toLowerCase().matchAll(/"([^"]+)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '');
  if (phrases.length === 0) throw new HostError('usage', 'There is no word to search for.', 'Write a word, or several.');
  const all: SearchHit[] = [];
  for (const story of stories) {
    const line = story.line();
    if (search.states && search.states.length > 0 && !search.states.includes(line.state)) continue;
    if (search.agent && search.agent !== line.agent) continue;
    for (const row of story.rows) {
      for (const [kind, text] of textsOf(row)) {
        const flat = text.replace(/\s+/g, ' ');
        const lower = flat.toLowerCase();
        const places = phrases.map((phrase) => lower.search(wordsOf(phrase)));
        if (places.some((place) => place < 0)) continue;
        const first = Math.min(...places);
        const from = Math.max(0, first - AROUND);
        const shown = `${from > 0 ? '…' : ''}${flat.slice(from, first + 2 * AROUND)}${first + 2 * AROUND < flat.length ? '…' : ''}`;
        const marks = phrases.flatMap((phrase) => [...shown.toLowerCase().matchAll(wordsOf(phrase))].map((match) => ({ from: match.index, to: match.index + phrase.length }))).sort((one, other) => one.from - other.from);
        all.push({ run: line, seq: row.seq, at: row.at, kind, row: row.key, text: shown, marks });
      }
    }
  }
  all.sort((one, other) => other.at - one.at);
  const begin = Number(search.after || 0);
  return { hits: all.slice(begin, begin + HITS), next: begin + HITS < all.length ? String(begin + HITS) : '' };
}

function rowOf(row: Row): ComparedRow | null {
  const base = { row: row.key, seq: row.seq };
  switch (row.content.kind) {
    case 'question':
      return { ...base, title: 'you', words: row.content.text };
    case 'answer':
      return { ...base, title: 'answer', words: row.content.text };
    case 'action':
      return { ...base, title: row.content.tool, words: [row.content.brief, row.content.outcome].filter(Boolean).join('\n') };
    case 'verification':
      return { ...base, title: 'check', words: row.content.results.map((result) => `${result.holds ? 'holds' : 'does not hold'}: ${result.criterion}`).join('\n') };
    case 'stop':
      return { ...base, title: 'end', words: row.content.text };
    default:
      return 'text' in row.content ? { ...base, title: row.content.kind, words: row.content.text ?? '' } : null;
  }
}

export function compare(left: Story, right: Story, fromStep: number, shared: number): Comparison {
  const of = (story: Story, step: number) => story.rows.filter((row) => row.step === step).flatMap((row) => rowOf(row) ?? []);
  const last = Math.max(...[...left.rows, ...right.rows].map((row) => row.step));
  const steps: ComparedStep[] = [];
  let diverges: Comparison['diverges'] = null;
  for (let step = 0; step <= last; step += 1) {
    const [lefts, rights] = [of(left, step), of(right, step)];
    const rows = Array.from({ length: Math.max(lefts.length, rights.length) }, (_, place): ComparedRows => {
      const [one, other] = [lefts[place] ?? null, rights[place] ?? null];
      return { left: one, right: other, same: one !== null && other !== null && one.title === other.title && one.words === other.words };
    });
    const differs = rows.find((pair) => !pair.same);
    if (differs && !diverges) diverges = { step, left: differs.left?.seq ?? null, right: differs.right?.seq ?? null, words: differs.left === null || differs.right === null ? 'the one goes on where the other has ended.' : differs.left.title === differs.right.title ? `${differs.left.title} says something else.` : `the one has ${differs.left.title}, the other ${differs.right.title}.` };
    if (rows.length > 0 && step >= fromStep) steps.push({ step, same: !differs, rows });
  }
  return { left: left.line(), right: right.line(), shared, diverges, steps, next: null };
}
