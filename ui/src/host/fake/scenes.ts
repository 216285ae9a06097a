import type { AgentLine, FileLine, FormatLine, KnownProvider, ModelLine, RuleLine, RunLine, Settings, SkillList, ViewUpdate } from '../bindings';
import { HostError } from '../host';
import { noKeychain, place, someKeys, type FakeKeys } from './keys';
import { formAsked, questionsOver, visitAsked } from './questions';
import { accepting, answered, asking, finished, handedOff, heavy, LEDGER, midway, opening, PATH, plan, QUESTION, SOURCES, spent, spentMoney, spliced, STANDING_RULES, STREAMED, uncertain, waiting } from './research';
import { FakeServers, hugeServer } from './servers';
import { loading, someSkills } from './skills';
import { NOW, Story } from './story';
import { crowd, delegated, delegating, everyCard, forked, helpers, replayed } from './work';

/** The state of the world that a test or a picture begins with. */
export interface Scene {
  stories: Story[];
  /** What comes next in a run, one list of updates each time that the gate is opened. */
  beats: Map<string, ViewUpdate[][]>;
  agents: AgentLine[];
  models: ModelLine[];
  settings: Settings;
  keys: FakeKeys;
  servers: FakeServers;
  files: FileLine[];
  /** Rows that a snapshot leaves to be paged. */
  held: Map<string, number>;
  /** Calls that are refused, by their name. */
  refusals: Map<string, HostError>;
  /** Calls that are answered only when the gate is opened. */
  silent: Set<string>;
  /** The rules of the policy file. */
  rules: RuleLine[];
  skills: SkillList;
  /** More lines of the list, without a story behind them. */
  lines: RunLine[];
  /** How many events two runs have from the same one. */
  shared: number;
}

const FORMATS: FormatLine[] = [
  { format: 'openai-chat', words: 'OpenAI Chat Completions', note: 'Most servers speak it: llama.cpp, LM Studio, Ollama, vLLM, OpenRouter and many others.', base_url: null },
  { format: 'openai-responses', words: 'OpenAI Responses', note: 'OpenAI and a few others speak it; with it the model’s reasoning is carried from step to step.', base_url: 'https://api.openai.com/v1' },
  { format: 'anthropic', words: 'Anthropic Messages', note: 'Anthropic speaks it, and gateways to it.', base_url: 'https://api.anthropic.com/v1' },
  { format: 'gemini', words: 'Google Gemini', note: 'Google speaks it, and gateways to it.', base_url: 'https://generativelanguage.googleapis.com/v1beta' },
];
const KNOWN: KnownProvider[] = [
  { name: 'anthropic', formats: ['anthropic'], base_url: 'https://api.anthropic.com/v1' },
  { name: 'ollama', formats: ['openai-chat'], base_url: 'http://127.0.0.1:11434/v1' },
  { name: 'openai', formats: ['openai-responses', 'openai-chat'], base_url: 'https://api.openai.com/v1' },
];

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

export function emptyScene(): Scene {
  return {
    stories: [],
    beats: new Map(),
    agents: [
      { name: 'research', description: 'Answers a question with one cited page.', model: 'demo/researcher', origin: 'shipped', problems: [] },
      { name: 'triage', description: 'Looks at an incident.', model: 'local/any', origin: 'saved', problems: [{ place: 'line 12', message: 'there is no key budgets; the nearest is budget', remedy: 'Write [budget].' }] },
    ],
    models: [
      { id: 'demo/researcher', demo: true, note: 'A rule-based stand-in, offline' },
      { id: 'local/qwen3-32b', demo: false, note: 'http://127.0.0.1:8080/v1' },
    ],
    settings: {
      theme: 'system',
      providers: [
        { name: 'local', format: 'openai-chat', base_url: 'http://127.0.0.1:8080/v1' },
        { name: 'lab', format: 'openai-chat', base_url: 'https://models.example.org/v1' },
      ],
      formats: FORMATS,
      known: KNOWN,
      data_dir: '~/.local/share/longrein',
      version: '0.1.0',
    },
    keys: someKeys(),
    servers: new FakeServers([]),
    files: [
      { path: PATH, bytes: 21_480, media_type: 'text/html', artifact: true },
      { path: 'measurements.csv', bytes: 3_120, media_type: 'text/csv', artifact: false },
      { path: 'results/a41.json', bytes: 84_210, media_type: 'application/json', artifact: false },
    ],
    held: new Map(),
    refusals: new Map(),
    silent: new Set(),
    rules: STANDING_RULES,
    skills: someSkills(),
    lines: [],
    shared: 0,
  };
}

function line(run: string, title: string, daysAgo: number, parts: Partial<RunLine>): RunLine {
  const created = NOW - daysAgo * DAY_MS - 3 * 60 * MINUTE_MS;
  return {
    run,
    title,
    agent: 'research',
    model: 'local/qwen3-32b',
    demo: false,
    state: 'accepted',
    reason: '',
    since: created + 20 * MINUTE_MS,
    created_at: created,
    updated_at: created + 20 * MINUTE_MS,
    steps: 17,
    tokens_in: 118_400,
    tokens_out: 9_210,
    working_ms: 754_000,
    cost_micro: 412_000,
    seq: 180,
    rein: ['person', 'ring', 'ring', 'ring', 'ring', 'square', 'ring', 'ring', 'ring', 'end'],
    ...parts,
  };
}

const OLDER: RunLine[] = [
  line('01JE1', 'Which of our measurements hold for arm64?', 0, { state: 'paused', reason: 'Paused by you', steps: 6, tokens_in: 31_200, rein: ['person', 'ring', 'ring', 'ring', 'ring'] }),
  line('01JD9', 'How do the five papers on late interaction define recall?', 0, {}),
  line('01JD8', 'What does the library say about vector search?', 1, { demo: true, model: 'demo/researcher', cost_micro: 0, steps: 9, tokens_in: 12_040, tokens_out: 2_010, working_ms: 2_400, rein: ['person', 'ring', 'ring', 'ring', 'splice', 'ring', 'ring', 'end'] }),
  line('01JD7', 'Licences of everything that the parser pulls in', 1, { state: 'unverified', reason: '', steps: 22 }),
  line('01JD5', 'Timeline of the outage on the third of November', 3, { state: 'failed', reason: 'The agent’s instructions can’t be read', rein: ['person', 'ring', 'ring', 'stop'] }),
  line('01JD4', 'Every dataset that the group has published, with its terms', 9, { state: 'cancelled', reason: 'Cancelled by you', rein: ['person', 'ring', 'ring', 'ring', 'ring', 'ring', 'stop'] }),
];

function withStories(...stories: Story[]): Scene {
  return { ...emptyScene(), stories };
}

/** A run of so many rows, told without end. */
export function hugeStory(run: string, rows: number): Story {
  const story = opening(run, 'Every measurement in the archive, page by page');
  Object.assign(story.head, { steps: { ...story.head.steps, limit: 20_000 }, tokens_in: { ...story.head.tokens_in, limit: 80_000_000 }, working_seconds: { ...story.head.working_seconds, limit: 86_400 }, money: { ...story.head.money, limit_micro: 90_000_000 } });
  for (let page = 1; story.rows.length < rows; page += 1) {
    story.action({ tool: 'read_source', brief: `S1, page ${page}`, outcome: `${400 + (page % 90)} words`, trust: 'untrusted', sources: ['S1'], latency_ms: 12 + (page % 40), result: 'One page of text.' });
    if (page % 9 === 0) story.answer(`Page ${page} names ${page % 5} measurements. They are kept in \`measurements.csv\` [S1].`);
    if (page % 400 === 0) story.compacted('24k tokens became 9k.', 'Compacted 24k to 9k');
  }
  return story;
}

const LONG_WORD = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'.repeat(3);

function longWords(run: string): Story {
  return new Story(run, `${LONG_WORD} and what it means`)
    .question(`What is ${LONG_WORD}? Look at https://example.org/${'very/'.repeat(30)}long`)
    .answer(`\`${LONG_WORD}\` is one word.\n\n${LONG_WORD}\n\n| ${LONG_WORD.slice(0, 60)} | b |\n|---|---|\n| ${'x'.repeat(90)} | ${'y'.repeat(90)} |`)
    .action({ tool: `server.${'long_tool_name_'.repeat(4)}`, brief: `“${LONG_WORD}”`, outcome: LONG_WORD, trust: 'untrusted', error: 'failed', state: 'failed', result: LONG_WORD.repeat(4), decision: `Allowed: ${LONG_WORD}` })
    .notice(LONG_WORD)
    .plan([{ text: LONG_WORD, state: 'doing' }])
    .sources([{ ...SOURCES[0]!, meta: { ...SOURCES[0]!.meta, title: LONG_WORD, file: `papers/${LONG_WORD}.pdf` } }])
    .context({ system: 1_000, conversation: 30_000 })
    .state('handed_off', `It waits because of ${LONG_WORD}`, 'Say what is meant.');
}

function unreadable(run: string): Story {
  return opening(run).state('unreadable', 'Row 34 of its log is damaged: its hash does not fit.', 'Everything before it can be read. Run longrein log check for the details.');
}

/** Delivered without a single citation, by an agent that sets no criteria. */
function unverified(run: string): Story {
  const story = midway(run).artifact('notes.html', 'Notes', []).stop('unverified', 'The agent sets no criteria, so nothing was checked.');
  story.head.done_when = [];
  return story;
}

function streaming(): Scene {
  const scene = withStories(midway('01JE7'));
  const after = midway('01JE7').answer(`${STREAMED[2]}ine.</p>\n\`\`\``).action({ tool: 'write_file', brief: 'index.html', outcome: '21 KB written', effect: 'workspace', latency_ms: 7 });
  const done = finished('01JE7');
  scene.beats.set('01JE7', [
    ...STREAMED.map((text): ViewUpdate[] => [{ kind: 'provisional', text, thinking: 'The person wants one page.' }]),
    [{ kind: 'change', change: { seq: after.view().seq, head: after.plan(plan(4)).view().head, rows: after.rows.slice(-2) } }],
    [{ kind: 'change', change: { seq: done.view().seq, head: done.view().head, rows: done.rows.slice(9) } }],
  ]);
  return scene;
}

/** Much that waits, over runs of many kinds. */
function inboxScene(): Scene {
  const titled = (story: Story, title: string, minutesAgo: number): Story => {
    story.head.title = title;
    story.head.since = NOW - minutesAgo * MINUTE_MS;
    return story;
  };
  const [, , , lists] = helpers('01JE7');
  return {
    ...withStories(
      titled(waiting('01JE9'), 'Vector indexes for 100 M vectors on one machine', 4),
      titled(asking('01JEA'), 'Which of our measurements hold for arm64?', 11),
      titled(uncertain('01JEB'), 'Repeat the build at 128 GB and file what differs', 26),
      titled(accepting('01JEC'), 'A page on late interaction, for the reading group', 52),
      titled(spent('01JED'), 'Every dataset that the group has published, with its terms', 190),
      titled(formAsked('01JEE'), 'Plan the week of the audit from the calendar', 3),
      delegating('01JE7'),
      lists!,
    ),
    lines: OLDER,
  };
}

/** The demo is started from an empty list and told beat by beat. */
function demoScene(): Scene {
  return { ...emptyScene(), agents: emptyScene().agents.slice(0, 1), models: emptyScene().models.slice(0, 1), settings: { ...emptyScene().settings, providers: [] } };
}

const refused = new HostError('io', 'The list of runs can’t be read: the data folder belongs to a newer version of Longrein.', 'Start the newer version, or choose another folder with --data-dir.');

/** Settings whose keys are as a test needs them. */
function withKeys(change: (keys: FakeKeys) => void, refusals: [string, HostError][] = []): Scene {
  const scene = emptyScene();
  change(scene.keys);
  return { ...scene, refusals: new Map(refusals) };
}

const KEYS_REFUSED: [string, HostError][] = [
  ['setKey', new HostError('io', 'The keychain did not answer within 60 s.', 'It may be asking for a password in a window of its own: answer that, then try again. What was to be changed may still be changed.')],
  ['testProvider', new HostError('refused', 'lab refused the key (401).', 'Replace the key, or set LONGREIN_LAB_API_KEY to a valid one and start Longrein again.')],
  ['chooseKeyPlace', new HostError('usage', 'config.toml was not changed, because it has a mistake already. config.toml, line 3: There is no closing quote.', 'Correct it in the data folder.')],
];

/** Every scene by its name in the address. */
export const SCENES: Record<string, () => Scene> = {
  list: () => ({ ...withStories(waiting('01JE9'), handedOff('01JE8'), midway('01JE7')), lines: OLDER }),
  inbox: inboxScene,
  empty: demoScene,
  loading: () => ({ ...emptyScene(), silent: new Set(['watchRuns', 'subscribeRun', 'getSettings', 'listAgents']) }),
  error: () => ({ ...emptyScene(), refusals: new Map([['watchRuns', refused], ['startRun', new HostError('usage', 'The library folder ~/Papers can’t be read: permission denied.', 'Give yourself the right to read it, or name another folder in the agent file.')], ['subscribeRun', new HostError('not_found', 'There is no run 01JE7 in this data folder.', 'Look for it in the list of runs.')], ['getSettings', new HostError('unreadable', 'config.toml can’t be read: line 3 has no closing quote.', 'Mend the line; nothing is written to the file until it can be read.')], ['testProvider', new HostError('refused', 'lab refused the key (401).', 'Set LONGREIN_LAB_API_KEY to a valid key and start Longrein again.')]]) }),
  refusals: () => ({ ...withStories(waiting('01JE9')), refusals: new Map([['startRun', new HostError('usage', 'The library folder ~/Papers can’t be read: permission denied.', 'Give yourself the right to read it, or name another folder in the agent file.')], ['testProvider', new HostError('refused', 'lab refused the key (401).', 'Set LONGREIN_LAB_API_KEY to a valid key and start Longrein again.')], ['approveAction', new HostError('refused', 'slack.post_message was answered from the command line 3 min ago: refused.', 'Nothing was changed.')], ['answerQuestion', new HostError('refused', 'ask_person was answered from the window a moment ago: answered.', 'Nothing was changed.')], ['raiseLimits', new HostError('usage', 'No limit was named, so nothing was changed.', 'Write a number for at least one limit.')], ['listRules', new HostError('unreadable', 'policy.toml can’t be read: line 4 has no closing quote.', 'Mend the line; until then nothing is decided by it.')], ['artifactUrl', new HostError('not_found', 'index.html is gone from the workspace.', 'The published copy can be restored from the record: run longrein export.')]]) }),
  streaming,
  waiting: () => withStories(waiting('01JE7')),
  skill: () => withStories(loading('01JE7')),
  spliced: () => withStories(spliced('01JE7')),
  'handed-off': () => withStories(handedOff('01JE7')),
  spent: () => withStories(spent('01JE7')),
  'spent-money': () => withStories(spentMoney('01JE7')),
  asking: () => withStories(asking('01JE7')),
  'server-form': () => withStories(formAsked('01JE7')),
  'server-visit': () => withStories(visitAsked('01JE7')),
  'server-questions': () => withStories(questionsOver('01JE7')),
  uncertain: () => withStories(uncertain('01JE7')),
  accepting: () => withStories(accepting('01JE7')),
  answered: () => withStories(answered('01JE7')),
  heavy: () => withStories(heavy('01JE7')),
  'heavy-silent': () => ({ ...withStories(heavy('01JE7')), silent: new Set(['askedArguments']) }),
  children: () => withStories(delegating('01JE7'), ...helpers('01JE7')),
  'children-back': () => {
    const { story, helpers: back } = delegated('01JE7');
    return withStories(story, ...back);
  },
  crowd: () => withStories(...crowd('01JE7')),
  cards: () => withStories(everyCard('01JE7')),
  compare: () => ({ ...withStories(replayed('01JE7'), ...[forked('01JE8', '01JE7')]), shared: 39 }),
  'compare-silent': () => ({ ...withStories(replayed('01JE7'), replayed('01JE8')), silent: new Set(['compareRuns']) }),
  'compare-same': () => withStories(replayed('01JE7'), replayed('01JE8')),
  'compare-failing': () => ({ ...withStories(replayed('01JE7'), replayed('01JE8')), refusals: new Map([['compareRuns', new HostError('unreadable', 'Row 34 of its log is damaged: its hash does not fit.', 'Run longrein log check for the details.')]]) }),
  search: () => ({ ...withStories(finished('01JE9'), handedOff('01JE8'), replayed('01JE7')), lines: OLDER }),
  'search-failing': () => ({ ...withStories(finished('01JE9')), lines: OLDER, refusals: new Map([['searchRuns', new HostError('io', 'The index of the search can’t be written: the disk is full.', 'Make room on the disk, then search again.')]]) }),
  replay: () => withStories(replayed('01JE7')),
  'replay-huge': () => withStories(hugeStory('01JE7', 5_000)),
  'replay-silent': () => ({ ...withStories(replayed('01JE7')), silent: new Set(['runScrubber', 'requestAt']) }),
  'replay-failing': () => ({ ...withStories(replayed('01JE7')), refusals: new Map(['runAt', 'requestAt', 'actionAt', 'filesAt'].map((name) => [name, new HostError('unreadable', 'Row 34 of its log is damaged: its hash does not fit.', 'Run longrein log check for the details.')] as const)) }),
  'replay-missing': () => ({ ...withStories(replayed('01JE7')), refusals: new Map([['runScrubber', new HostError('unreadable', 'Nothing of this run can be read: its first row is damaged.', 'Run longrein log check for the details.')]]) }),
  accepted: () => withStories(finished('01JE7')),
  fresh: () => withStories(new Story('01JE7', QUESTION, { minutesAgo: 0 }).question(QUESTION)),
  paused: () => withStories(midway('01JE7').stop('paused', 'Paused by you.', 'Resume it when you like.')),
  failed: () => withStories(midway('01JE7').stop('failed', 'local/qwen3-32b refused the request: the model takes no tools.', 'Choose a model that takes tools, then ask again.')),
  cancelled: () => withStories(midway('01JE7').stop('cancelled', 'Cancelled by you.')),
  unverified: () => withStories(unverified('01JE7')),
  bare: () => ({ ...withStories(waiting('01JE9')), servers: new FakeServers([]), rules: [], skills: { ...emptyScene().skills, skills: [] }, settings: { ...emptyScene().settings, providers: [] }, keys: { ...someKeys(), kept: {}, variables: {}, granted: {} } }),
  interrupted: () => withStories(midway('01JE7').state('interrupted', 'The app ended while it was at work.', 'Resume it: nothing is repeated.')),
  huge: () => withStories(hugeStory('01JE7', 5_000)),
  paged: () => ({ ...withStories(hugeStory('01JE7', 5_000)), held: new Map([['01JE7', 3_000]]) }),
  long: () => withStories(longWords('01JE7')),
  unreadable: () => withStories(unreadable('01JE7')),
  servers: () => ({ ...emptyScene(), servers: new FakeServers() }),
  'servers-slow': () => ({ ...emptyScene(), servers: new FakeServers(undefined, null, true) }),
  'servers-huge': () => ({ ...emptyScene(), servers: new FakeServers([hugeServer()], 'MCP servers are not confined on this machine: bubblewrap (bwrap) is not installed. Install it so that they see neither the data folder nor the session bus.') }),
  'servers-unreadable': () => ({ ...emptyScene(), refusals: new Map([['listServers', new HostError('io', 'config.toml can’t be read: line 3 has no closing quote.', 'Mend the line; nothing is written to the file until it can be read.')]]) }),
  'keys-empty': () => ({ ...withKeys((keys) => Object.assign(keys, { kept: {}, variables: {}, granted: {} })), settings: { ...emptyScene().settings, providers: [] } }),
  'keys-unavailable': () => withKeys((keys) => Object.assign(keys, { place: noKeychain(), kept: {} })),
  'keys-locked': () => withKeys((keys) => (keys.place = place('file', { standing: 'locked' }))),
  'keys-new': () => withKeys((keys) => Object.assign(keys, { place: place('file', { standing: 'new', file_exists: false }), kept: {} })),
  'keys-open': () => withKeys((keys) => (keys.place = place('file'))),
  'keys-keychain-locked': () => withKeys((keys) => (keys.place = place('keychain', { standing: 'locked' }))),
  'keys-memory': () => withKeys((keys) => (keys.place = place('memory'))),
  'keys-failing': () => withKeys((keys) => Object.assign(keys, { kept: { lab: 'q8Zd', 'old-gateway': 'a0c1' }, variables: {} }), KEYS_REFUSED),
  'keys-unreadable': () => withKeys(() => undefined, [['listKeys', new HostError('io', 'The keys can’t be listed: the data folder can’t be read.', 'Check that you may read it.')]]),
  many: () => ({ ...emptyScene(), lines: Array.from({ length: 450 }, (_, place) => line(`01JA${String(place).padStart(4, '0')}`, `Question number ${place}`, place / 9, {})) }),
};

export { LEDGER, QUESTION };
