import type { ActionState, Claim, ClaimState, RunState } from '$host/bindings';
import { emptyScene, type Scene } from '$host/fake/scenes';
import { formAsked, visitAsked } from '$host/fake/questions';
import { accepting, asking, finished, handedOff, heavy, midway, spent, uncertain, waiting } from '$host/fake/research';
import { loading } from '$host/fake/skills';
import { Story, type ActionParts } from '$host/fake/story';
import { HostError } from '$host/host';

/** The runs whose questions the gallery lays side by side, by what each asks. */
export const ASKING: readonly { run: string; words: string }[] = [
  { run: 'approval', words: 'an approval' },
  { run: 'arguments', words: 'an approval with long arguments' },
  { run: 'skill', words: 'a skill that has changed' },
  { run: 'question', words: 'a question' },
  { run: 'form', words: 'a form of a server' },
  { run: 'visit', words: 'a page that a server wants visited' },
  { run: 'uncertain', words: 'an action of which nobody knows' },
  { run: 'acceptance', words: 'a result to accept' },
  { run: 'paused', words: 'a run that stands still' },
  { run: 'unreadable', words: 'a run that can’t be read on' },
];

export function galleryScene(): Scene {
  return {
    ...emptyScene(),
    stories: [
      waiting('approval'),
      heavy('arguments'),
      loading('skill'),
      asking('question'),
      formAsked('form'),
      visitAsked('visit'),
      uncertain('uncertain'),
      accepting('acceptance'),
      midway('paused').state('paused', 'Paused by you.', 'Resume it when you like.'),
      midway('unreadable').state('unreadable', 'Row 34 of its log is damaged: its hash does not fit.', 'Everything before it can be read.'),
    ],
  };
}

const NO_LATENCY = new Set<ActionState>(['proposed', 'asked', 'asks_you', 'allowed', 'started', 'finding_out', 'uncertain', 'unknown', 'withdrawn', 'denied', 'rejected']);

/** What the card of an action shows in a state that needs more than the state. */
const PARTS: Partial<Record<ActionState, Partial<ActionParts>>> = {
  rejected: { error: 'invalid_arguments', outcome: '“channel” is required' },
  denied: { error: 'not_permitted', outcome: 'Not before the check.' },
  failed: { error: 'temporary', outcome: 'no answer within 30 s' },
  succeeded: { outcome: 'posted', undo: true, proposed: '{ "channel": "#general" }' },
  started: { outcome: '' },
  finding_out: { outcome: 'asked 2 times' },
  unknown: { outcome: 'it was left at that' },
};

const STATES: readonly ActionState[] = ['proposed', 'rejected', 'asked', 'asks_you', 'allowed', 'denied', 'withdrawn', 'started', 'succeeded', 'failed', 'finding_out', 'uncertain', 'unknown'];

/** One action in every state that there is. */
export function everyAction(): Story {
  const story = midway('actions');
  story.rows.length = 0;
  for (const state of STATES) {
    story.action({ tool: 'slack.post_message', brief: 'a message to #ann-lab', effect: 'reversible', state, latency_ms: NO_LATENCY.has(state) ? null : 84, ...PARTS[state] });
  }
  return story.action({ tool: 'web_fetch', brief: 'example.org/pq-twelve-years-on', outcome: '2,140 words', trust: 'untrusted', sources: ['S4'], result: 'Product quantisation, twelve years on …' });
}

/** Every mark that stands between what was said and done. */
export function everyMark(): Story {
  return new Story('marks', 'Marks')
    .splice('The app was killed at 20:33. Nothing was repeated.')
    .compacted('61k tokens became 9k: older tool results left the request.', 'Compacted 61k to 9k')
    .notice('The same search gave the same result three times. The model was told.')
    .budget('64 of 80 steps are used.', false)
    .budget('New limits, set from the window: 120 steps.', true)
    .trouble('The server at 127.0.0.1 refused the connection.', true)
    .trouble('The server at 127.0.0.1 refused the connection, five times in two minutes.', false)
    .side('lab/judge-large', 'asked', '', null)
    .side('lab/judge-large', 'answered', 'PASS: every claim is fair to its source.', 4_200)
    .side('lab/judge-large', 'failed', '', null)
    .acceptance('Read the page and accept it.', 'asked')
    .acceptance('Read the page and accept it.', 'accepted', { words: 'accepted', note: '', from: 'window', at: Date.UTC(2026, 10, 26, 19, 20) })
    .acceptance('Read the page and accept it.', 'refused', { words: 'sent back', note: 'Say which machine in the first line.', from: 'command', at: Date.UTC(2026, 10, 26, 19, 20) })
    .acceptance('Read the page and accept it.', 'withdrawn');
}

/** A run at each of its ends. */
export function everyEnd(): Story[] {
  return [
    finished('end-accepted'),
    midway('end-unverified').artifact('notes.html', 'Notes', []).stop('unverified', 'The agent sets no criteria, so nothing was checked.'),
    midway('end-failed').stop('failed', 'local/qwen3-32b refused the request: the model takes no tools.', 'Choose a model that takes tools, then ask again.'),
    midway('end-cancelled').stop('cancelled', 'Cancelled by you.'),
    midway('end-paused').stop('paused', 'Paused by you.', 'Resume it when you like.'),
    handedOff('end-handed'),
    spent('end-spent'),
  ];
}

export const RUN_STATE_NAMES: readonly RunState[] = ['running', 'waiting', 'handed_off', 'interrupted', 'paused', 'accepted', 'unverified', 'failed', 'cancelled', 'unreadable'];

const CLAIM_STATES: readonly ClaimState[] = ['verbatim', 'near', 'number_found', 'number_not_found', 'not_found', 'source_not_read', 'cited', 'uncited'];

/** A claim in every state. */
export const CLAIMS: readonly Claim[] = CLAIM_STATES.map((state, place) => ({
  sentence: 'Building it takes longest: eleven hours on 32 cores.',
  source: state === 'uncited' ? '' : state === 'source_not_read' ? 'S9' : `S${(place % 4) + 1}`,
  state,
  ...(state === 'verbatim' || state === 'near' || state === 'not_found' ? { quote: 'the build took 11 h 20 min' } : {}),
  ...(state === 'near' ? { difference: 'the build of 100 M vectors took 11 h 20 min on 32 cores' } : {}),
}));

export const TROUBLE = new HostError('refused', 'lab refused the key (401).', 'Replace the key, or set LONGREIN_LAB_API_KEY to a valid one and start Longrein again.');
export const BARE_TROUBLE = new HostError('io', 'The list of runs can’t be read.', '');

export const MARKDOWN = `# A heading
## A smaller one
### The least

Words with **weight**, with *lean*, with \`code\`, a [link](https://example.org) and a quote [S1: "the build took 11 h"]. A source alone [S2].

> Said by somebody else.

1. first
2. second
   - inside

- [x] done
- [ ] open

| Index | Memory | Recall |
|---|--:|:-:|
| Graph on disk | 64 GB | 0.97 |
| Quantised lists | 96 GB | 0.93 |

\`\`\`python
def recall(found, wanted):
    return len(found & wanted) / len(wanted)
\`\`\`

![a picture](https://example.org/a.png)

---

مرحبا بالعالم، هذا نص من اليمين إلى اليسار.`;
