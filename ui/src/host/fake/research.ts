import type { Claim, PlanItem, SourceLine } from '../bindings';
import { Story } from './story';

/** One run told to several points: the question, its reading, its page and its check. */

export const QUESTION = 'Compare the three best open-source vector indexes for 100 M vectors on one machine. Cite everything.';
export const PATH = 'index.html';

export const SOURCES: SourceLine[] = [
  { id: 'S1', meta: { title: 'Billion-scale similarity search on one machine', authors: ['A. Novak', 'L. Brandt'], date: '2025', file: 'papers/billion-scale-one-machine.pdf', media_type: 'application/pdf', private: true, pdf: { pages: 14, read: 13, empty: [9], bibliography: [13, 14], cut: false } }, passages: 4 },
  { id: 'S2', meta: { title: 'Notes from the index bench, October', date: '2026-10-14', file: 'notes/index-bench.md', media_type: 'text/markdown', private: true }, passages: 3 },
  { id: 'S3', meta: { title: 'Graph indexes that live on disk', date: '2026', file: 'papers/graphs-on-disk.pdf', media_type: 'application/pdf', private: true, pdf: { pages: 11, read: 11, cut: false } }, passages: 2 },
  { id: 'S4', meta: { title: 'Product quantisation, twelve years on', date: '2024', url: 'https://example.org/pq-twelve-years-on', media_type: 'text/html', private: false }, passages: 1 },
];

export const LEDGER: Claim[] = [
  { sentence: 'At equal memory the disk graph reaches the highest recall of the three.', source: 'S3', quote: 'at 64 GB the graph on disk reaches 0.97 recall at ten', found: { start: 8_120, end: 8_175, page: 6 }, state: 'verbatim' },
  { sentence: 'Building it takes longest: eleven hours on 32 cores.', source: 'S1', quote: 'the build of 100 M vectors took 11 h 20 min on 32 cores', found: { start: 21_004, end: 21_060, page: 7 }, state: 'verbatim' },
  { sentence: 'The in-memory graph needs four times the memory of the quantised lists.', source: 'S2', quote: 'the graph in memory wants 412 GB, the lists 96 GB', found: { start: 902, end: 951 }, state: 'verbatim' },
  { sentence: 'Quantised lists build in under an hour.', source: 'S2', quote: 'lists: built in 52 min', found: { start: 1_310, end: 1_338 }, state: 'near', difference: 'lists were built in 52 min, the graph in 9 h' },
  { sentence: 'Quantisation costs three to five points of recall.', source: 'S4', state: 'cited' },
  { sentence: 'All measurements were made on one machine with 128 GB of memory.', source: 'S2', quote: 'one machine, 128 GB, NVMe', found: { start: 41, end: 66 }, state: 'verbatim' },
];

const ITEMS = ['Name the candidates', 'Read each in the library', 'Keep measurements that name their hardware', 'Write the page', 'Check quotes'];

export function plan(done: number): PlanItem[] {
  return ITEMS.map((text, place) => ({ text, state: place < done ? 'done' : place === done ? 'doing' : 'open' }));
}

const PASSAGES = `3 passages of 2 documents

[S1] Billion-scale similarity search on one machine, page 7
  … the build of 100 M vectors took 11 h 20 min on 32 cores, of which
  nine hours were spent in the second pass …

[S2] Notes from the index bench, October
  … the graph in memory wants 412 GB, the lists 96 GB …`;

/** The beginning that all points share. */
export function opening(run: string, title = 'Vector indexes for 100 M vectors on one machine'): Story {
  return new Story(run, title)
    .question(QUESTION)
    .answer('I’ll name the candidates first, then read what the library says of each, and keep only measurements that name their hardware.', 'The person wants three indexes compared on one machine, with sources. The library is the only thing that I can read. I should look for build time, memory and recall, and be careful to keep the hardware with each number.')
    .action({ tool: 'update_plan', brief: '5 items, 0 done', outcome: 'the plan has 5 items', effect: 'workspace', latency_ms: 3, arguments: JSON.stringify({ items: plan(0) }, null, 2), result: 'The plan has 5 items.' })
    .action({ tool: 'search_library', brief: '“disk-based index 100M build time”', outcome: '3 passages of 2 documents', trust: 'untrusted', sources: ['S1', 'S2'], latency_ms: 212, result: PASSAGES })
    .action({ tool: 'search_library', brief: '“recall at equal memory”', outcome: '4 passages of 3 documents', trust: 'untrusted', sources: ['S1', 'S2', 'S3'], latency_ms: 96, result: PASSAGES })
    .action({ tool: 'read_source', brief: 'S3, pages 5–7', outcome: '2,140 words', trust: 'untrusted', sources: ['S3'], latency_ms: 18, result: PASSAGES })
    .answer(
      `Three candidates name their hardware:

| Index | Memory | Build | Recall@10 |
|---|--:|--:|--:|
| Graph on disk | 64 GB | 11 h 20 min | 0.97 |
| Graph in memory | 412 GB | 9 h | 0.98 |
| Quantised lists | 96 GB | 52 min | 0.93 |

They agree on recall at equal memory and differ most in **build time** [S1: "the build of 100 M vectors took 11 h 20 min on 32 cores"]. The graph in memory does not fit the machine at all [S2].`,
    )
    .plan(plan(3))
    .sources(SOURCES)
    .context({ system: 1_240, tools: 2_310, pinned: 880, conversation: 14_620, tail: 310 });
}

/** The page written and checked, with one quote that had to be mended. */
export function finished(run: string): Story {
  return opening(run)
    .action({ tool: 'write_file', brief: 'index.html', outcome: '21 KB written', effect: 'workspace', latency_ms: 7, arguments: JSON.stringify({ path: PATH, content: '<!doctype html>…' }, null, 2) })
    .action({ tool: 'publish_artifact', brief: 'index.html', outcome: '6 citations rendered', effect: 'workspace', latency_ms: 41 })
    .verified([
      { criterion: 'index.html exists, at least 1000 bytes', holds: true, evidence: '21,480 bytes' },
      { criterion: 'every quote in index.html is in its source, and nothing is uncited', holds: false, evidence: '5 of 6 quotes', difference: ['“lists are built in an hour” is not in S2; nearest: “lists were built in 52 min, the graph in 9 h”. Quote the words as they stand, or cite without words.'] },
    ])
    .action({ tool: 'edit_file', brief: 'index.html, 1 place', outcome: '1 match replaced', effect: 'workspace', latency_ms: 5 })
    .action({ tool: 'publish_artifact', brief: 'index.html', outcome: '6 citations rendered', effect: 'workspace', latency_ms: 38 })
    .answer('The page is ready. The disk graph is the best of the three that **fits one machine**; the quantised lists are the choice when the index is rebuilt every day.')
    .verified([
      { criterion: 'index.html exists, at least 1000 bytes', holds: true, evidence: '21,486 bytes' },
      { criterion: 'every quote in index.html is in its source, and nothing is uncited', holds: true, evidence: '6 of 6 quotes, 0 uncited' },
    ])
    .plan(plan(5))
    .artifact(PATH, 'Three vector indexes for 100 M vectors', LEDGER)
    .stop('accepted', 'Every criterion holds.');
}

/** In the middle of a step: text streams in behind this. */
export function midway(run: string): Story {
  return opening(run).state('running', '', '', 1);
}

/** What streams in, in the pieces that a test lets through. */
export const STREAMED = [
  '## What is left to do\n\nI have **three** candidates and twelve mea',
  '## What is left to do\n\nI have **three** candidates and twelve measurements. Next:\n\n1. write the page,\n2. quote each number with its `hard',
  '## What is left to do\n\nI have **three** candidates and twelve measurements. Next:\n\n1. write the page,\n2. quote each number with its `hardware`,\n3. publish it.\n\n```html\n<h1>Three vector indexes</h1>\n<p>Measured on one mach',
];

export function waiting(run: string): Story {
  const posted = { channel: '#ann-lab', text: 'First comparison is up: 3 indexes, 12 measurements, 6 quotes checked. Draft attached.' };
  return opening(run)
    .compacted('61k tokens became 9k: older tool results left the request. 4 constraints and 4 sources stay pinned.', 'Compacted 61k to 9k')
    .action({ tool: 'write_file', brief: 'index.html', outcome: '21 KB written', effect: 'workspace', latency_ms: 7 })
    .splice('The app was killed at 20:33. Nothing was repeated, one model request was made again.')
    .answer('The page stands. Before the check I’d like to tell the lab that a draft is up.')
    .action({
      tool: 'slack.post_message',
      brief: 'a message to #ann-lab',
      effect: 'irreversible',
      state: 'asked',
      decision: 'Its effect is irreversible, no rule allows it, and this run has read untrusted text.',
      arguments: JSON.stringify(posted, null, 2),
      latency_ms: null,
    })
    .plan(plan(4))
    .state('waiting', 'An answer about slack.post_message');
}

export function spliced(run: string): Story {
  return opening(run)
    .splice('The app was killed. Nothing was repeated.')
    .trouble('The server at 127.0.0.1 refused the connection.', true)
    .notice('The same search gave the same result three times. The model was told.')
    .action({ tool: 'read_file', brief: 'measurements.csv', state: 'failed', error: 'not_found', outcome: 'no such file', latency_ms: 2 })
    .action({ tool: 'search_files', brief: '“recall”', state: 'started', latency_ms: null })
    .state('running', '', '', 1);
}

export function handedOff(run: string): Story {
  return opening(run)
    .trouble('The server at 127.0.0.1 refused the connection, five times in two minutes.', false)
    .stop('handed_off', 'The model’s server can’t be reached.', 'Start the server at http://127.0.0.1:8080/v1, then resume.');
}
