import { opening, plan, SOURCES } from './research';
import { eightChecks, Story } from './story';

/** Runs that give parts of their work away, and the cards of every kind of tool. */

const TASKS = [
  { title: 'Graph on disk: build time and memory', brief: 'Find in the library every measurement of the graph index that lives on disk: build time, memory while it is built, memory while it is searched. Keep the hardware with each number.' },
  { title: 'Graph in memory: recall at equal memory', brief: 'Find what the library says of recall at ten for the graph in memory, at 64, 128 and 256 GB. Keep the hardware with each number.' },
  { title: 'Quantised lists: what a rebuild costs', brief: 'Find how long the quantised lists take to build and to rebuild, with the hardware.' },
];

/** The helpers of {@link delegating}, as runs of their own. */
export function helpers(parent: string): Story[] {
  const [disk, memory, lists] = TASKS.map((task, place) =>
    new Story(`${parent}-${place + 1}`, task.title, { minutesAgo: 13, parent }).question(task.brief, 'Task').action({ tool: 'search_library', brief: `“${task.title.toLowerCase()}”`, outcome: '4 passages of 3 documents', trust: 'untrusted', sources: ['S1', 'S2'], latency_ms: 141, result: HITS }),
  ) as [Story, Story, Story];
  const scout = new Story(`${parent}-0`, 'Name the candidates that run on one machine', { minutesAgo: 20, parent })
    .question('Name the open-source vector indexes that hold 100 M vectors on one machine.', 'Task')
    .action({ tool: 'search_library', brief: '“one machine, 100 M vectors”', outcome: '6 passages of 4 documents', trust: 'untrusted', sources: ['S1'], latency_ms: 180, result: HITS })
    .answer('Three hold it: the graph on disk, the graph in memory with 412 GB, the quantised lists [S1].')
    .stop('accepted', 'Every criterion holds.');
  disk
    .answer('The build takes 11 h 20 min on 32 cores [S1].')
    .action({ tool: 'read_source', brief: 'S1, pages 7–8', outcome: '1,310 words', trust: 'untrusted', sources: ['S1'], latency_ms: 22, result: HITS })
    .stop('accepted', 'Every criterion holds.');
  memory.answer('Recall is given at two sizes; I look for the third.').action({ tool: 'search_library', brief: '“recall at 256 GB”', state: 'started', latency_ms: null }).state('running', '', '', 3);
  lists
    .answer('The bench notes name a rebuild, and the page they point to is not in the library.')
    .action({ tool: 'web_fetch', brief: 'example.org/pq-twelve-years-on', effect: 'read', state: 'asked', latency_ms: null, arguments: JSON.stringify({ url: 'https://example.org/pq-twelve-years-on' }, null, 2), decision: 'example.org is not on the agent’s list', seen: '4c'.repeat(32) })
    .state('waiting', 'web_fetch waits for your answer.');
  return [scout, disk, memory, lists];
}

/** A run in the middle of the work of its helpers: one came back before, three work side by side. */
export function delegating(run: string): Story {
  const scout = { title: 'Name the candidates that run on one machine', brief: 'Name the open-source vector indexes that hold 100 M vectors on one machine.' };
  const story = new Story(run, 'Vector indexes for 100 M vectors on one machine')
    .question('Compare the three best open-source vector indexes for 100 M vectors on one machine. Cite everything.')
    .answer('First I have the candidates named, then each is read by a helper of its own.')
    .action({ tool: 'update_plan', brief: '5 items', outcome: 'the plan has 5 items', effect: 'workspace', latency_ms: 3, arguments: JSON.stringify({ items: plan(0) }, null, 2) })
    .until(20.4)
    .action({ tool: 'delegate', brief: scout.title, child: `${run}-0`, outcome: 'accepted', latency_ms: 184_000, trust: 'untrusted', sources: ['S1'], arguments: JSON.stringify({ tasks: [scout] }, null, 2), result: 'Three hold it: the graph on disk, the graph in memory with 412 GB, the quantised lists [S1].' })
    .answer('Three candidates stand. Each is read side by side.')
    .until(13.5)
    .action({ tool: 'delegate', brief: TASKS.map((task) => task.title).join(' · '), child: `${run}-3`, state: 'started', outcome: 'Quantised lists: what a rebuild costs', latency_ms: null, arguments: JSON.stringify({ tasks: TASKS }, null, 2) })
    .plan(plan(1))
    .sources(SOURCES.slice(0, 3))
    .context({ system: 1_240, tools: 2_310, pinned: 880, conversation: 9_120, tail: 310 })
    .state('running', '', '', 12);
  story.head.tainted = true;
  return story;
}

/** The same, after all came back: one of them without a result. */
export function delegated(run: string): { story: Story; helpers: Story[] } {
  const [scout, disk, memory, lists] = helpers(run) as [Story, Story, Story, Story];
  memory.stop('failed', 'local/qwen3-32b refused the request: the model takes no tools.', '');
  lists.stop('cancelled', 'Cancelled by you.');
  const story = delegating(run);
  const row = story.rows.at(-1)!;
  if (row.content.kind === 'action') {
    story.rows[story.rows.length - 1] = {
      ...row,
      content: { ...row.content, state: 'succeeded', outcome: '1 of 3 accepted', latency_ms: 662_000, result: '1. Graph on disk: the build takes 11 h 20 min on 32 cores [S1].\n2. failed: the model takes no tools.\n3. cancelled.' },
      knot: row.knot && { ...row.knot, tone: 'plain', detail: '1 of 3 accepted' },
    };
  }
  story.answer('One of the three came back with measurements. I read the other two myself.').state('running', '', '', 1);
  return { story, helpers: [scout, disk, memory, lists] };
}

/** Eight helpers at once, as many as one action may have. */
export function crowd(run: string): Story[] {
  const tasks = Array.from({ length: 8 }, (_, place) => ({ title: `Archive, year ${2018 + place}`, brief: `Every measurement of ${2018 + place}.` }));
  const parent = opening(run, 'Every measurement in the archive, year by year')
    .until(5)
    .action({ tool: 'delegate', brief: tasks.map((task) => task.title).join(' · '), child: `${run}-7`, state: 'started', latency_ms: null, arguments: JSON.stringify({ tasks }, null, 2) })
    .state('running', '', '', 4);
  return [
    parent,
    ...tasks.map((task, place) => {
      const story = new Story(`${run}-${place}`, task.title, { minutesAgo: 4.5, parent: run }).question(task.brief, 'Task').answer('I look.');
      return place % 3 === 2 ? story.stop('accepted', 'Every criterion holds.') : story.state('running', '', '', 4);
    }),
  ];
}

export const HITS = `4 passages of 3 documents for “disk-based index 100M build time”, best first, from a library of 41 documents.
[S1] Billion-scale similarity search on one machine (papers/billion-scale-one-machine.pdf, page 7, bytes 21004-21620)
On the machine of Table 2 the build of 100 M vectors took 11 h 20 min on 32 cores, of which nine hours were spent in the second pass over the disk. The index then needs 64 GB of memory to be searched, and 97 GB while it is built: the difference is the candidate lists of the second pass, which are kept in memory so that the disk is written once. With half the memory the build takes twice as long, since each list is written and read again.
[S3] Graph indexes that live on disk (papers/graphs-on-disk.pdf, page 6, bytes 8120-8390)
At 64 GB the graph on disk reaches 0.97 recall at ten, with 1.9 ms at the median.
[S2] Notes from the index bench, October (notes/index-bench.md, bytes 902-1338)
the graph in memory wants 412 GB, the lists 96 GB
lists were built in 52 min, the graph in 9 h
[S1] Billion-scale similarity search on one machine (papers/billion-scale-one-machine.pdf, page 9, bytes 30110-30180)
(This page has no text: it is a picture.)
`;

const PAGE = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>Three vector indexes for 100 M vectors</title>
</head>
<body>
  <h1>Three vector indexes for 100 M vectors</h1>
  <p>All were measured on one machine with 128 GB of memory and two drives.</p>
  <table>
    <tr><th>Index</th><th>Memory</th><th>Build</th></tr>
    <tr><td>Graph on disk</td><td>64 GB</td><td>11 h 20 min</td></tr>
    <tr><td>Quantised lists</td><td>96 GB</td><td>52 min</td></tr>
  </table>
</body>
</html>
`;

const CODE = `import csv, tools

kept = []
for page in range(1, 15):
    found = tools.read_source(source="S1", page=page)
    for line in found.text.splitlines():
        if "GB" in line and ("min" in line or " h " in line):
            kept.append({"page": page, "line": line.strip()})

with open("measurements.csv", "w") as file:
    writer = csv.DictWriter(file, ["page", "line"])
    writer.writeheader()
    writer.writerows(kept)

print(len(kept), "of 512 records name their hardware")
`;

const ESC = '\u001b';
const TESTS = `${ESC}[1mrunning 4 checks${ESC}[0m
recall.csv ............ ${ESC}[32mok${ESC}[0m
build-time.csv ........ ${ESC}[32mok${ESC}[0m
memory.csv ............ ${ESC}[31mFAILED${ESC}[0m
  line 12: ${ESC}[33mno hardware named${ESC}[0m
index.html ............ ${ESC}[32mok${ESC}[0m
[exit status 1, after 2.4 s]`;

const OUTLINE = `[84 KB of JSON: too long to be shown whole. results/a41.json holds it, and read_result with "result": "a41" shows any part.]
$.results[12].title      text, 18 to 94 characters
$.results[12].url        text
$.results[12].published  date, 2024-02-11 to 2026-10-02
$.results[12].text       text, 1,204 to 11,890 characters
$.results[12].tables[0…4].rows[0…40]
The beginning: {"results": [{"title": "Disk-resident graphs at a billion points", "url": "https://example.org/a"…
The end: …"published": "2026-10-02"}], "more": false}`;

const RECALLED = `2 of 5 passages that match, best first:

== event 31, step 4, the result of read_source (a13), bytes 1200-2400 of 21480, sources S1
The second pass reads every list once more; with 64 GB it is written in 38 parts.

== event 12, step 2, the person
Rank them for a machine with 128 GB.`;

/** One card of each kind, as they stand in a real run. */
export function everyCard(run: string): Story {
  const json = (value: unknown) => JSON.stringify(value, null, 2);
  const later = plan(3).map((item, place) => (place === 2 ? { ...item, state: 'done' as const, evidence: 'measurements.csv, 12 records' } : item));
  return opening(run)
    .action({ tool: 'search_library', brief: '“disk-based index 100M build time”', outcome: '4 passages of 3 documents', trust: 'untrusted', sources: ['S1', 'S2', 'S3'], latency_ms: 212, arguments: json({ query: 'disk-based index 100M build time' }), result: HITS })
    .action({ tool: 'exa.search', brief: '“disk-based ANN 100M build time”', outcome: '84 KB → results/a41.json', trust: 'untrusted', latency_ms: 1_840, arguments: json({ query: 'disk-based ANN 100M build time', numResults: 12 }), result: OUTLINE })
    .action({ tool: 'run_code', brief: 'Keep the records that name their hardware', effect: 'workspace', outcome: 'exit status 0', latency_ms: 2_130, arguments: json({ intent: 'Keep the records that name their hardware', code: CODE }), result: '12 of 512 records name their hardware\n[exit status 0, after 2.1 s]' })
    .action({ tool: 'update_plan', brief: '6 items', outcome: 'the plan has 6 items', effect: 'workspace', latency_ms: 3, arguments: json({ items: [...later.slice(0, 4), { text: 'Tell the lab', state: 'open' }, later[4]] }) })
    .action({ tool: 'pin_note', brief: '“The machine has 128 GB and two drives.”', outcome: 'the note is pinned', effect: 'workspace', latency_ms: 1, arguments: json({ text: 'The machine has 128 GB and two drives.', unpin: 'N2' }) })
    .action({ tool: 'recall', brief: '“second pass memory”', outcome: '2 passages', trust: 'untrusted', latency_ms: 12, arguments: json({ query: 'second pass memory' }), result: RECALLED })
    .action({ tool: 'write_file', brief: 'index.html', outcome: '21 KB written', effect: 'workspace', latency_ms: 7, arguments: json({ path: 'index.html', content: PAGE }) })
    .action({ tool: 'edit_file', brief: 'index.html', outcome: '1 place replaced', effect: 'workspace', latency_ms: 5, arguments: json({ path: 'index.html', old: '    <tr><td>Graph on disk</td><td>64 GB</td><td>11 h</td></tr>\n    <tr><td>Quantised lists</td><td>96 GB</td><td>an hour</td></tr>', new: '    <tr><td>Graph on disk</td><td>64 GB</td><td>11 h 20 min</td></tr>\n    <tr><td>Quantised lists</td><td>96 GB</td><td>52 min</td></tr>' }), result: 'Replaced 1 place in index.html, the first in line 12.' })
    .action({ tool: 'run_command', brief: 'Check every table', effect: 'workspace', outcome: 'exit status 1', latency_ms: 2_400, arguments: json({ command: 'python3 check.py --every-table *.csv index.html', intent: 'Check every table' }), result: TESTS })
    .action({ tool: 'edit_file', brief: 'memory.csv', state: 'failed', error: 'not_found', outcome: 'not found', effect: 'workspace', latency_ms: 3, arguments: json({ path: 'memory.csv', old: 'lists,96', new: 'lists,96,128 GB machine' }), result: '0 matches in `memory.csv`: `old` does not occur there; the nearest line is 12: `lists;96`' })
    .action({ tool: 'run_command', brief: 'Build the index once more', effect: 'workspace', state: 'started', latency_ms: null, arguments: json({ command: 'make bench SIZE=100M', intent: 'Build the index once more' }) })
    .plan(later)
    .state('running', '', '', 1);
}

/** A run from its question to its end, with all that can be looked back at: an approval that was edited, a crash, files. */
export function replayed(run: string): Story {
  const json = (value: unknown) => JSON.stringify(value, null, 2);
  const said = [{ words: 'approved with other arguments', note: '', from: 'window' as const, at: Date.UTC(2026, 10, 26, 19, 22) }];
  return opening(run)
    .action({ tool: 'exa.search', brief: '“disk-based ANN 100M build time”', outcome: '84 KB → results/a41.json', trust: 'untrusted', latency_ms: 1_840, arguments: json({ query: 'disk-based ANN 100M build time', numResults: 12 }), result: OUTLINE })
    .action({ tool: 'run_code', brief: 'Keep the records that name their hardware', effect: 'workspace', outcome: 'exit status 0', latency_ms: 2_130, arguments: json({ intent: 'Keep the records that name their hardware', code: CODE }), result: '12 of 512 records name their hardware\n[exit status 0, after 2.1 s]' })
    .answer('Twelve measurements name their hardware. I write the page.')
    .plan(plan(3))
    .context({ system: 1_240, tools: 2_310, pinned: 880, conversation: 14_620, tail: 310 })
    .action({ tool: 'write_file', brief: 'index.html', outcome: '21 KB written', effect: 'workspace', latency_ms: 7, arguments: json({ path: 'index.html', content: PAGE }) })
    .splice('The app was killed at 20:33. Nothing was repeated, one model request was made again.')
    .answer('The page stands. I tell the lab.')
    .action({
      tool: 'slack.post_message',
      brief: 'a message to #ann-lab',
      effect: 'irreversible',
      outcome: 'posted',
      decision: 'it can’t be taken back, and no rule allows it',
      checks: eightChecks({ rules: ['ask', 'it can’t be taken back, and no rule allows it'], taint: ['ask', 'this run has read untrusted text, and the action reaches outside'] }),
      decided_by: 'rules',
      arguments: json({ channel: '#ann-lab', text: 'A draft is up. Please don’t cite it yet.' }),
      proposed: json({ channel: '#general', text: 'First comparison is up!' }),
      said,
      latency_ms: 320,
    })
    .plan(plan(4))
    .verified([
      { criterion: 'index.html exists, at least 1000 bytes', holds: true, evidence: '21,480 bytes' },
      { criterion: 'every quote in index.html is in its source, and nothing is uncited', holds: false, evidence: '5 of 6 quotes', difference: ['“lists are built in an hour” is not in S2.'] },
    ])
    .answer('One quote is off by a word. I mend it.')
    .action({ tool: 'edit_file', brief: 'index.html', outcome: '1 place replaced', effect: 'workspace', latency_ms: 5, arguments: json({ path: 'index.html', old: '<q>lists are built in an hour</q>', new: '<q>lists were built in 52 min, the graph in 9 h</q>' }), result: 'Replaced 1 place in index.html, the first in line 12.' })
    .verified([
      { criterion: 'index.html exists, at least 1000 bytes', holds: true, evidence: '21,486 bytes' },
      { criterion: 'every quote in index.html is in its source, and nothing is uncited', holds: true, evidence: '6 of 6 quotes, 0 uncited' },
    ])
    .plan(plan(5))
    .stop('accepted', 'Every criterion holds.');
}

/** A fork of {@link replayed} that left the lab out of it. */
export function forked(run: string, of: string): Story {
  return new Story(run, 'Vector indexes for 100 M vectors on one machine', { model: 'lab/qwen3-235b' })
    .forkOf(replayed(of), 37)
    .question('Leave the lab out of it.', 'Steered')
    .answer('Then I check the page at once.')
    .verified([
      { criterion: 'index.html exists, at least 1000 bytes', holds: true, evidence: '21,480 bytes' },
      { criterion: 'every quote in index.html is in its source, and nothing is uncited', holds: true, evidence: '6 of 6 quotes, 0 uncited' },
    ])
    .stop('accepted', 'Every criterion holds.');
}
