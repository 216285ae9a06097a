import type { AcceptanceState, ActionRow, ArtifactLine, Check, CheckName, Claim, CriterionResult, Decision, Digest, Knot, KnotShape, Listed, PlanItem, Row, RowContent, RuleLine, RunHead, RunLine, RunState, RunView, SaidLine, SideState, SourceLine } from '../bindings';
import { RUN_STATES } from '$shared/states';

/** The present of every scene, so that pictures and tests don't depend on the clock. */
export const NOW = Date.UTC(2026, 10, 26, 19, 36, 0);

const MINUTE_MS = 60_000;

export type ActionParts = Partial<ActionRow> & Pick<ActionRow, 'tool' | 'brief'>;

const CHECK_NAMES: readonly CheckName[] = ['granted', 'schema', 'effect', 'secrets', 'reach', 'budget', 'rules', 'taint'];

/** The eight checks, with what those that are named say; the others simply say yes. */
export function eightChecks(said: Partial<Record<CheckName, [Decision, string]>> = {}): Check[] {
  return CHECK_NAMES.map((check) => {
    const [decision, facts] = said[check] ?? (['allow', ''] as const);
    return { check, decision, ...(facts ? { facts } : {}) };
  });
}

/** Builds the rows and the panel of a run, as the backend would fold them. */
export class Story {
  readonly rows: Row[] = [];
  readonly head: RunHead;
  /** The panel as it was when each row came. */
  private readonly heads: { seq: number; head: RunHead }[] = [];
  private seq = 1;
  private at: number;
  private step = 0;

  constructor(run: string, title: string, options: { minutesAgo?: number; demo?: boolean; model?: string; parent?: string } = {}) {
    const minutesAgo = options.minutesAgo ?? 22;
    this.at = NOW - minutesAgo * MINUTE_MS;
    this.head = {
      run,
      parent: options.parent ?? '',
      title,
      agent: 'research',
      model: options.model ?? (options.demo ? 'demo/researcher' : 'local/qwen3-32b'),
      demo: options.demo ?? false,
      state: 'running',
      reason: '',
      remedy: '',
      since: NOW - 2 * MINUTE_MS,
      created_at: this.at,
      steps: { used: 0, held: 0, limit: 80 },
      tokens_in: { used: 0, held: 0, limit: 2_000_000 },
      tokens_out: { used: 0, held: 0, limit: null },
      working_seconds: { used: 0, held: 0, limit: 3_600 },
      actions: { used: 0, held: 0, limit: null },
      money: { used_micro: 0, held_micro: 0, limit_micro: 3_000_000, known: true },
      warned: [],
      reached: null,
      plan: [],
      notes: [],
      context: [],
      window_tokens: 32_768,
      sources: [],
      stages: [],
      artifacts: [],
      done_when: [
        { criterion: 'index.html exists, at least 1000 bytes', holds: false, evidence: '' },
        { criterion: 'every quote in index.html is in its source, and nothing is uncited', holds: false, evidence: '' },
      ],
      verified: false,
      acceptance: null,
      digest: null,
      rules: [],
      tainted: false,
    };
  }

  row(content: RowContent, knot: Knot | null, key = `r${this.seq}`): this {
    this.at += 23_000;
    this.heads.push({ seq: this.seq, head: structuredClone(this.head) });
    this.rows.push({ key, seq: this.seq, at: this.at, step: this.step, content, knot });
    this.seq += 3;
    return this;
  }

  question(text: string, label = 'Question'): this {
    return this.row({ kind: 'question', text }, { shape: 'person', tone: 'plain', label, detail: 'you' });
  }

  answer(text: string, thinking = ''): this {
    this.step += 1;
    this.head.steps.used += 1;
    this.head.tokens_in.used += 7_940;
    this.head.tokens_out.used += 612;
    this.head.working_seconds.used += 31;
    this.head.money.used_micro += 46_300;
    return this.row({ kind: 'answer', text, thinking }, null);
  }

  action(parts: ActionParts): this {
    this.head.actions.used += 1;
    const action: ActionRow = {
      action: `a${this.seq}`,
      by_person: false,
      undoes: '',
      child: '',
      hidden_bytes: 0,
      proposed: '',
      checks: eightChecks({ rules: ['allow', 'it only reads, and no rule says otherwise'] }),
      decided_by: null,
      seen: '',
      offers: [],
      review: '',
      question: null,
      server_questions: [],
      said: [],
      undo: false,
      undone: false,
      arguments: JSON.stringify({ query: parts.brief.replace(/[“”]/g, '') }, null, 2),
      effect: 'read',
      state: 'succeeded',
      decision: 'Allowed: its effect is read, and no rule says otherwise.',
      result: '',
      outcome: '',
      error: null,
      trust: 'trusted',
      sources: [],
      latency_ms: 84,
      attempt: 1,
      ...parts,
    };
    if (action.trust === 'untrusted') this.head.tainted = true;
    const waits: Partial<Record<ActionRow['state'], string>> = { asked: 'waits for you', asks_you: 'asks you', uncertain: 'may have happened' };
    const works = action.state === 'started' || action.state === 'finding_out';
    const waiting = waits[action.state];
    const tone = works ? 'running' : waiting ? 'waiting' : action.state === 'failed' || action.state === 'denied' ? 'bad' : 'plain';
    const shape: KnotShape = waiting ? 'break' : 'ring';
    const open = action.server_questions.find((line) => line.state === 'open');
    const label = open?.text ?? action.question?.text ?? (waiting ? action.tool : `${action.tool.replaceAll('_', ' ')} ${action.brief}`);
    const took = action.latency_ms === null ? '' : `${action.latency_ms} ms`;
    const detail = waiting ?? (works ? action.outcome || 'runs' : [action.outcome, took].filter(Boolean).join(' · '));
    return this.row({ kind: 'action', ...action }, { shape, tone, label, detail }, `action-${action.action}`);
  }

  /** Time goes by until so many minutes before the present. */
  until(minutesAgo: number): this {
    this.at = Math.max(this.at, NOW - minutesAgo * MINUTE_MS);
    return this;
  }

  /** Begins with the rows of another story up to an event. */
  forkOf(story: Story, at: number): this {
    this.rows.push(...story.rows.filter((row) => row.seq <= at));
    this.seq = at + 1;
    this.step = this.rows.at(-1)?.step ?? 0;
    return this;
  }

  splice(text: string): this {
    return this.row({ kind: 'splice', text }, { shape: 'splice', tone: 'bad', label: 'Spliced', detail: text });
  }

  compacted(text: string, label: string, details: Listed[] = []): this {
    return this.row({ kind: 'compacted', text, details }, { shape: 'square', tone: 'plain', label, detail: 'constraints and sources kept' });
  }

  notice(text: string): this {
    return this.row({ kind: 'notice', text }, null);
  }

  rules(text: string, added: RuleLine[], removed: RuleLine[] = []): this {
    this.head.rules = [...this.head.rules.filter((rule) => !removed.some((gone) => gone.id === rule.id)), ...added];
    return this.row({ kind: 'rules', text, added, removed }, null);
  }

  budget(text: string, raised: boolean): this {
    return this.row({ kind: 'budget', text, raised }, null);
  }

  side(model: string, state: SideState, answer: string, latency_ms: number | null): this {
    return this.row({ kind: 'side', text: 'A judge is asked about a criterion', model, state, answer, latency_ms }, null);
  }

  acceptance(text: string, state: AcceptanceState = 'asked', said: SaidLine | null = null): this {
    if (state === 'asked') this.head.acceptance = text;
    return this.row({ kind: 'acceptance', text, state, said }, { shape: state === 'asked' ? 'break' : 'ring', tone: state === 'asked' ? 'waiting' : 'plain', label: 'Accept the result?', detail: state === 'asked' ? 'waits for you' : state });
  }

  trouble(text: string, retrying: boolean): this {
    return this.row({ kind: 'model_trouble', text, retrying }, { shape: 'ring', tone: retrying ? 'plain' : 'bad', label: 'Model request failed', detail: retrying ? 'tried again' : text });
  }

  verified(results: CriterionResult[]): this {
    const accepted = results.every((result) => result.holds);
    this.head.done_when = results;
    this.head.verified = true;
    const held = results.filter((result) => result.holds).length;
    const waits = results.every((result) => result.holds || result.waits);
    return this.row(
      { kind: 'verification', results, accepted },
      { shape: 'ring', tone: accepted ? 'good' : waits ? 'plain' : 'bad', label: 'Checked', detail: `${held} of ${results.length} hold` },
    );
  }

  stop(state: RunState, text: string, remedy = '', digest: Digest | null = null): this {
    this.head.digest = digest;
    this.state(state, state === 'accepted' ? '' : text, remedy);
    const good = state === 'accepted' || state === 'unverified';
    const waits = state === 'handed_off' || state === 'paused';
    const tone = state === 'accepted' ? 'good' : waits ? 'waiting' : state === 'failed' ? 'bad' : 'plain';
    return this.row({ kind: 'stop', state, text, remedy, digest }, { shape: good ? 'end' : waits ? 'break' : 'stop', tone, label: RUN_STATES[state].words, detail: text });
  }

  state(state: RunState, reason = '', remedy = '', minutesAgo = 4): this {
    Object.assign(this.head, { state, reason, remedy, since: NOW - minutesAgo * MINUTE_MS });
    return this;
  }

  plan(items: PlanItem[]): this {
    this.head.plan = items;
    return this;
  }

  context(tokens: Record<string, number>): this {
    this.head.context = Object.entries(tokens).map(([section, amount]) => ({ section, tokens: amount }));
    return this;
  }

  sources(sources: SourceLine[]): this {
    this.head.sources = sources;
    return this;
  }

  artifact(path: string, title: string, ledger: Claim[]): this {
    const line: ArtifactLine = { path, title, media_type: 'text/html', bytes: 21_480, ledger };
    this.head.artifacts = [...this.head.artifacts.filter((artifact) => artifact.path !== path), line];
    return this;
  }

  /** The panel as it was after an event. */
  headAt(seq: number): RunHead {
    const then = seq >= this.seq - 1 ? undefined : this.heads.findLast((known) => known.seq <= seq);
    return structuredClone(then?.head ?? this.head);
  }

  view(): RunView {
    return { seq: this.seq, head: structuredClone(this.head), rows: [...this.rows], earlier: 0 };
  }

  line(): RunLine {
    const head = this.head;
    return {
      run: head.run,
      ...(head.parent ? { parent: head.parent, root: head.parent } : {}),
      title: head.title,
      agent: head.agent,
      model: head.model,
      demo: head.demo,
      state: head.state,
      reason: head.reason,
      since: head.since,
      created_at: head.created_at,
      updated_at: this.at,
      steps: head.steps.used,
      tokens_in: head.tokens_in.used,
      tokens_out: head.tokens_out.used,
      working_ms: head.working_seconds.used * 1_000,
      cost_micro: head.money.known ? head.money.used_micro : null,
      seq: this.seq,
      rein: this.rows.flatMap((row) => (row.knot ? [row.knot.shape] : [])).slice(-24),
    };
  }
}
