import type { Claim, Digest, PlanItem, RuleLine, SourceLine } from '../bindings';
import { eightChecks, Story } from './story';

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

const DIGEST: Digest = {
  done: ['Name the candidates', 'Read each in the library', 'Keep measurements that name their hardware'],
  open: ['Write the page', 'Check quotes', 'does not hold yet: index.html exists, at least 1000 bytes'],
  cost: 'A step took 7,940 tokens in and 612 out on average, $0.0463. 2 items of the plan are open.',
};

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
    .compacted('61k tokens became 9k: older tool results left the request. 4 constraints and 4 sources stay pinned.', 'Compacted 61k to 9k', [
      { title: 'Left out', lines: ['all before message 24, but for your words'] },
      { title: 'Findings', lines: ['Graph indexes answer fastest and need the most memory. [S1] [S2]'] },
      { title: 'Kept', lines: ['1 message of yours, word for word'] },
      { title: 'Pinned sources', lines: ['S1 Graph indexes', 'S2 Flat quantization'] },
    ])
    .action({ tool: 'write_file', brief: 'index.html', outcome: '21 KB written', effect: 'workspace', latency_ms: 7 })
    .splice('The app was killed at 20:33. Nothing was repeated, one model request was made again.')
    .answer('The page stands. Before the check I’d like to tell the lab that a draft is up.')
    .action({
      tool: 'slack.post_message',
      brief: 'a message to #ann-lab',
      effect: 'irreversible',
      state: 'asked',
      decision: 'it can’t be taken back, and no rule allows it',
      checks: eightChecks({
        effect: ['allow', 'it changes something outside, which can’t be taken back'],
        reach: ['allow', 'hooks.example.org is on the agent’s list'],
        rules: ['ask', 'it can’t be taken back, and no rule allows it'],
        taint: ['ask', 'this run has read untrusted text, and the action reaches outside'],
      }),
      decided_by: 'rules',
      seen: '5e'.repeat(32),
      offers: [
        { words: 'slack.post_message, with channel “#ann-lab”', rule: '{"tool":"slack.post_message","args":{"channel":"#ann-lab"},"decision":"allow"}' },
        { words: 'slack.post_message, only to hooks.example.org', rule: '{"tool":"slack.post_message","host":"hooks.example.org","decision":"allow"}' },
      ],
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
    .stop('handed_off', 'The model’s server can’t be reached.', 'Start the server at http://127.0.0.1:8080/v1, then resume.', DIGEST);
}

/** A limit stopped it, after it was said that it comes near. */
export function spent(run: string): Story {
  const story = opening(run)
    .budget('64 of 80 steps are used.', false)
    .action({ tool: 'read_source', brief: 'S1, pages 8–9', outcome: '1,480 words', trust: 'untrusted', sources: ['S1'], latency_ms: 21, result: PASSAGES })
    .answer('Two measurements are left to check.')
    .stop('handed_off', 'The limit of 80 steps is reached.', 'Raise the limit, or say how to end with what is there.', DIGEST);
  story.head.steps.used = 80;
  story.head.warned = ['steps'];
  story.head.reached = { limit: 'steps', used: 81, of: 80, suggested: 120 };
  return story;
}

/** Money stopped it, and something was delivered already. */
export function spentMoney(run: string): Story {
  const story = opening(run)
    .action({ tool: 'publish_artifact', brief: 'index.html', outcome: '6 citations rendered', effect: 'workspace', latency_ms: 41 })
    .artifact(PATH, 'Three vector indexes for 100 M vectors', LEDGER)
    .stop('handed_off', 'The next request would pass the limit of $3.00.', 'Raise the limit, or take the result as it is.', DIGEST);
  story.head.money = { used_micro: 2_948_400, held_micro: 0, limit_micro: 3_000_000, known: true };
  story.head.warned = ['tokens_in', 'money'];
  story.head.tokens_in.used = 1_720_000;
  story.head.reached = { limit: 'money', used: 3_012_000, of: 3_000_000, suggested: 4_500_000 };
  return story;
}

/** The model asks something that only the person knows. */
export function asking(run: string): Story {
  return opening(run)
    .action({
      tool: 'ask_person',
      brief: '“Which machine is meant?”',
      state: 'asks_you',
      latency_ms: null,
      arguments: '{}',
      question: {
        text: 'Which machine is meant by “one machine”? The papers use 64 GB to 512 GB, and the ranking changes at 128 GB.',
        options: ['The lab’s machine: 128 GB, NVMe', 'A machine with 512 GB', 'Rank them for both, side by side'],
        answer: null,
      },
    })
    .state('waiting', 'It asks you a question.', 'Answer it.');
}

/** A server ended in the middle of something that can't be repeated. */
export function uncertain(run: string): Story {
  return opening(run)
    .splice('The process ended here and another one took the run up. What was in flight is in doubt.')
    .action({
      tool: 'tracker.create_issue',
      brief: 'a new issue',
      effect: 'reversible',
      state: 'uncertain',
      outcome: 'The server ended before it answered.',
      arguments: JSON.stringify({ project: 'ANN', title: 'Repeat the build at 128 GB', body: 'The papers disagree by two hours.' }, null, 2),
      latency_ms: null,
    })
    .stop('handed_off', 'tracker.create_issue may or may not have happened.', 'Look at the other end, then say what you found.');
}

/** Everything is checked but what only a person can say. */
export function accepting(run: string): Story {
  return opening(run)
    .action({ tool: 'publish_artifact', brief: 'index.html', outcome: '6 citations rendered', effect: 'workspace', latency_ms: 41 })
    .side('lab/judge-large', 'answered', 'PASS\nEach claim is fair to its source. The third is put more strongly than the paper puts it, but not wrongly.', 4_210)
    .verified([
      { criterion: 'index.html exists, at least 1000 bytes', holds: true, evidence: '21,486 bytes' },
      { criterion: 'a judge finds of index.html: every claim is fair to its source', holds: true, evidence: 'PASS' },
      { criterion: 'a person accepts: Read the page and accept it.', holds: false, waits: true, evidence: 'a person has to accept it' },
    ])
    .plan(plan(5))
    .artifact(PATH, 'Three vector indexes for 100 M vectors', LEDGER)
    .acceptance('Read the page and accept it.')
    .state('waiting', 'The result waits for you: Read the page and accept it.', 'Accept the result, or send it back with a reason.');
}

const RULES: RuleLine[] = [
  { id: 'r1', scope: 'run', agent: '', words: 'slack.post_message, with channel “#ann-lab”', decision: 'allow', tainted: true },
  { id: 'r2', scope: 'agent', agent: 'research', words: 'web_fetch, only to arxiv.org and its hosts', decision: 'allow', tainted: false },
  { id: 'r3', scope: 'everywhere', agent: '', words: 'every tool of mail', decision: 'deny', tainted: false },
];

export const STANDING_RULES: RuleLine[] = RULES.filter((rule) => rule.scope !== 'run');

/** What people said, and what came of it: edits, rules, a raise, something to take back. */
export function answered(run: string): Story {
  const edited = { channel: '#ann-lab', text: 'A draft is up. Please don’t cite it yet.' };
  const proposed = { channel: '#general', text: 'First comparison is up!' };
  const at = Date.UTC(2026, 10, 26, 19, 20, 0);
  const story = opening(run)
    .rules('The rules changed, by the policy file.', [RULES[1]!, RULES[2]!])
    .action({
      tool: 'slack.post_message',
      brief: 'a message to #ann-lab',
      effect: 'reversible',
      outcome: 'posted',
      arguments: JSON.stringify(edited, null, 2),
      proposed: JSON.stringify(proposed, null, 2),
      decision: 'you approved it',
      checks: eightChecks({ rules: ['allow', 'you approved it'], taint: ['allow', 'you approved it'] }),
      decided_by: 'rules',
      said: [{ words: 'approved with other arguments', note: '', from: 'command', at }],
      undo: true,
    })
    .rules('The rules changed, by an approval in the window.', [RULES[0]!])
    .action({ tool: 'tracker.create_issue', brief: 'a new issue', state: 'finding_out', outcome: 'its status tool can’t say yet, asked 2 times', effect: 'reversible', latency_ms: null })
    .action({ tool: 'mail.send', brief: 'to the whole list', state: 'denied', error: 'not_permitted', outcome: 'Not before the check.', effect: 'irreversible', latency_ms: null, decision: 'no rule allows it', said: [{ words: 'refused', note: 'Not before the check.', from: 'window', at }] })
    .action({ tool: 'ask_person', brief: '“Which machine?”', outcome: 'The lab’s machine', question: { text: 'Which machine is meant?', options: [], answer: 'The lab’s machine: 128 GB' }, said: [{ words: 'answered', note: '', from: 'api', at }] })
    .acceptance('Read the page and accept it.', 'refused', { words: 'sent back', note: 'Say which machine in the first line.', from: 'window', at })
    .budget('New limits, set from the window: 120 steps, $5.00.', true)
    .side('lab/judge-large', 'asked', '', null);
  story.head.steps.limit = 120;
  story.head.tokens_in.held = 410_000;
  return story.state('running', '', '', 1);
}

/** An approval that is as large as they come: long arguments, and every check has something to say. */
export function heavy(run: string): Story {
  const story = opening(run);
  const rows = Array.from({ length: 60 }, (_, place) => ({ id: place, index: 'graph-on-disk', recall: 0.9 + place / 1_000, note: 'measured on one machine with 128 GB of memory and two drives' }));
  return story
    .action({
      tool: 'tracker.import_measurements',
      brief: '60 measurements',
      effect: 'irreversible',
      state: 'asked',
      decision: '127.0.0.1:9000 is not on the agent’s list, and “$HOST” can’t be made out',
      checks: eightChecks({
        granted: ['allow', 'granted by “tracker.*”'],
        effect: ['allow', 'nothing is declared, so it counts as irreversible'],
        secrets: ['allow', 'it is given “tracker-token”, which is its own'],
        reach: ['ask', '127.0.0.1:9000 is not on the agent’s list, and “$HOST” can’t be made out'],
        budget: ['allow', 'the 41st of 50 actions'],
        rules: ['ask', 'your rule for every run asks about every tool of tracker that changes something outside for good'],
        taint: ['ask', 'this run has read untrusted text, and the action reaches outside'],
      }),
      decided_by: 'reach',
      seen: 'a7'.repeat(32),
      arguments: `${JSON.stringify({ endpoint: 'http://127.0.0.1:9000/import', rows }, null, 2).slice(0, 1_200)}\n… 9412 more bytes`,
      hidden_bytes: 9_412,
      latency_ms: null,
    })
    .state('waiting', 'tracker.import_measurements waits for your answer.', 'Approve it, or refuse it with a reason.');
}

/** All that the arguments of {@link heavy} hold. */
export const WHOLE_ARGUMENTS = JSON.stringify({ endpoint: 'http://127.0.0.1:9000/import', rows: Array.from({ length: 60 }, (_, place) => ({ id: place, index: 'graph-on-disk', recall: 0.9 + place / 1_000, note: 'measured on one machine with 128 GB of memory and two drives' })) }, null, 2);
