import type { ActionRow, FieldLine, ServerQuestionLine } from '../bindings';
import { opening } from './research';
import type { Story } from './story';

function field(name: string, parts: Partial<FieldLine> = {}): FieldLine {
  return { name, title: name, description: '', hint: 'a text', required: true, default: '', kind: 'text', choices: [], how_many: '', ...parts };
}

function asks(number: number, server: string, text: string, parts: Partial<ServerQuestionLine> = {}): ServerQuestionLine {
  return { number, server, text, url: '', host: '', fields: [], state: 'open', answer: '', why: '', ...parts };
}

const choices = (...named: [value: string, title: string][]) => named.map(([value, title]) => ({ value, title }));

/** One field of each kind. */
const FIELDS: FieldLine[] = [
  field('queue', { title: 'Queue', kind: 'one', choices: choices(['short', 'Up to an hour'], ['day', 'Up to a day'], ['week', 'Up to a week']), default: '"day"', description: 'Longer queues wait longer.' }),
  field('node', { title: 'Node', kind: 'one', choices: choices(...Array.from({ length: 24 }, (_, place): [string, string] => [`n${place}`, `node-${String(place).padStart(2, '0')}.cluster.example.org`])) }),
  field('hours', { title: 'Hours', kind: 'whole', hint: 'a whole number, from 1 to 24', default: '6' }),
  field('memory', { title: 'Memory in GiB', kind: 'number', hint: 'a number, at least 0.5', required: false }),
  field('kinds', { title: 'What to measure', kind: 'many', choices: choices(['build', 'Build time'], ['recall', 'Recall at ten'], ['memory', 'Memory']), default: '["build","recall"]', how_many: 'from 1 to 2' }),
  field('exclusive', { title: 'The whole node', kind: 'yes_no', hint: 'true or false', description: 'Nobody else works on it meanwhile.' }),
  field('tell', { title: 'Tell by e-mail', kind: 'email', hint: 'an address of e-mail, such as ann@example.org', required: false }),
  field('note', { title: 'Note for the operators', hint: 'a text, at most 200 characters long', required: false }),
];

function asking(run: string, parts: Partial<ActionRow>, ...questions: ServerQuestionLine[]): Story {
  return opening(run)
    .action({
      tool: 'cluster.submit',
      brief: 'build-100m.sh',
      effect: 'irreversible',
      state: 'asks_you',
      latency_ms: null,
      arguments: JSON.stringify({ script: 'build-100m.sh' }, null, 2),
      // What a surface shows that knows questions in words only.
      question: { text: 'The server cluster asks.', options: ['decline'], answer: null },
      server_questions: questions,
      ...parts,
    })
    .state('waiting', 'The server cluster asks you.', 'Answer it.');
}

/** A server wants a form to be filled in, and another word after that. */
export function formAsked(run: string): Story {
  const second = asks(2, 'cluster', 'The queue is long: about 14 hours. Submit it all the same?');
  return asking(run, {}, asks(1, 'cluster', 'How should build-100m.sh be run?', { fields: FIELDS }), second);
}

/** A server wants a page to be visited. */
export function visitAsked(run: string): Story {
  const url = 'https://login.cluster.example.org/device?client=longrein&scope=submit%20status&state=3f9a01b7c2d84e6f';
  return asking(run, {}, asks(1, 'cluster', 'Sign in to the cluster, so that the job runs under your name.', { url, host: 'login.cluster.example.org' }));
}

/** Questions that are over, one that nobody was asked among them. */
export function questionsOver(run: string): Story {
  return asking(
    run,
    { state: 'succeeded', question: null, latency_ms: 48_200, outcome: 'job 4711 is queued', result: 'Job 4711 is queued.' },
    asks(0, 'cluster', 'Please enter your cluster password.', { state: 'refused', why: 'It asks for a secret (“Password”). Secrets are never typed into a server’s form: keep it with longrein keys set, and grant it to the server in config.toml.' }),
    asks(1, 'cluster', 'How many hours?', { state: 'answered', answer: '{"hours":6}' }),
    asks(2, 'cluster', 'May others see the job?', { state: 'declined' }),
  ).state('running', '', '', 0);
}
