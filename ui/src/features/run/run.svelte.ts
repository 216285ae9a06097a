import type { ActionRow, ActionState, LiveRow, Row, RunHead, SaidLine, ViewUpdate } from '$host/bindings';
import { HostError, type Host, type Stop } from '$host/host';
import { FrameBatch } from '$shared/frames';
import { openQuestion } from './serverForm';

/** More rows than these are not held: the oldest leave, and are read again when they are wanted. */
const ROWS_HELD = 6_000;
/** How many stay when the oldest leave. */
const ROWS_KEPT = 4_000;

/** An action that waits for the person, with the row that shows it. */
export type Asked = { key: string } & ActionRow;

/** The states in which an action waits for the person. */
const WAITS = new Set<ActionState>(['asked', 'asks_you', 'uncertain']);

/** Why what waited is asked no more, where nobody answered it. */
function whyNoMore(before: ActionRow, now: ActionRow): string {
  const open = openQuestion(before);
  return (open && now.server_questions.find((line) => line.number === open.number)?.why) || now.outcome;
}

/** The key under which the question whether the result is accepted is noted. */
const ACCEPTANCE = 'acceptance';

/** That something which waited was answered, and not from this window. */
export interface Elsewhere {
  /** What waited: a tool, or the result. */
  what: string;
  /** What was said; `null` when nobody said anything and it no longer matters. */
  said: SaidLine | null;
  /** Why it no longer matters. */
  why: string;
}

/**
 * One run as the backend folds it: a snapshot, then rows inserted and replaced by key. Nothing is
 * worked out here but where a row stands.
 */
export class RunModel {
  head = $state.raw<RunHead | null>(null);
  rows = $state.raw<Row[]>([]);
  /** How many rows come before the first of `rows`. */
  earlier = $state(0);
  /** Streaming text that is not on disk yet. */
  provisional = $state.raw<{ text: string; thinking: string } | null>(null);
  /** What running actions show of themselves, by the keys of their rows. */
  acting = $state.raw<ReadonlyMap<string, LiveRow>>(new Map());
  /** What is shown of something that is no action of the run: its box being made ready. */
  making = $derived([...this.acting.values()].find((live) => live.doing && !this.rows.some((row) => row.key === live.key))?.doing ?? '');
  /** Why the run can't be shown any further. */
  problem = $state.raw<HostError | null>(null);
  /** Actions that wait for an answer, oldest first. */
  asked = $state.raw<Asked[]>([]);
  /** What was last answered from somewhere else while it waited here. */
  elsewhere = $state.raw<Elsewhere | null>(null);
  /** Whether the end is in view, so that rows at the start may leave. */
  atEnd = true;
  /** Set while rows come or go before the first, so that the list keeps its place from its end. */
  prepending = $state(false);
  /** Whether rows are read so that a place is reached: the view asks for none meanwhile. */
  reaching = false;
  /** Whether a page of earlier rows is on its way. */
  loadingEarlier = $state(false);

  private places = new Map<string, number>();
  private waiting = new Map<string, Asked>();
  private acceptanceWaits = false;
  /** What this window has answered. */
  private readonly answered = new Set<string>();
  private stop: Stop | null = null;
  private ended = false;
  private readonly batch = new FrameBatch<ViewUpdate>((updates) => this.apply(updates));

  constructor(
    private readonly host: Host,
    readonly run: string,
    /** Where rows before a sequence number come from. */
    private readonly earlierRows: (beforeSeq: number) => Promise<Row[]> = (before) => host.earlierRows(run, before),
  ) {}

  async start(): Promise<void> {
    try {
      const stop = await this.host.subscribeRun(this.run, (update) => this.receive(update));
      if (this.ended) stop();
      else this.stop = stop;
    } catch (thrown) {
      this.problem = HostError.from(thrown);
    }
  }

  end(): void {
    this.ended = true;
    this.batch.drop();
    this.stop?.();
    this.stop = null;
  }

  /** Takes an update; it shows in the next frame. */
  receive(update: ViewUpdate): void {
    if (!this.ended) this.batch.push(update);
  }

  /** Notes that this window answers something, so that it is not told of its own answer. */
  answers(key: string = ACCEPTANCE): void {
    this.answered.add(key);
  }

  /** Forgets it again: the answer was refused. */
  answersNot(key: string = ACCEPTANCE): void {
    this.answered.delete(key);
  }

  /** Puts earlier rows before the first, once per call. */
  async loadEarlier(): Promise<void> {
    const first = this.rows[0];
    if (!first || this.earlier === 0 || this.loadingEarlier) return;
    this.loadingEarlier = true;
    try {
      const rows = (await this.earlierRows(first.seq)).filter((row) => !this.places.has(row.key));
      this.prepending = true;
      this.rows = [...rows, ...this.rows];
      this.earlier = rows.length === 0 ? 0 : Math.max(0, this.earlier - rows.length);
      this.index(this.rows);
    } catch (thrown) {
      this.problem = HostError.from(thrown);
    } finally {
      this.loadingEarlier = false;
    }
  }

  /** The place of the row that an event made or stands behind; earlier rows are read until it is there. */
  async reach(seq: number): Promise<number> {
    this.reaching = true;
    try {
      while (this.earlier > 0 && (this.rows[0]?.seq ?? 0) > seq && this.problem === null && !this.ended) await this.loadEarlier();
    } finally {
      this.reaching = false;
    }
    return this.rows.findLastIndex((row) => row.seq <= seq);
  }

  private apply(updates: ViewUpdate[]): void {
    let rows: Row[] | null = null;
    this.prepending = false;
    for (const update of updates) {
      switch (update.kind) {
        case 'snapshot':
          rows = [...update.view.rows];
          this.head = update.view.head;
          this.earlier = update.view.earlier;
          this.provisional = null;
          this.problem = null;
          this.places = new Map(rows.map((row, place) => [row.key, place]));
          this.waiting = new Map();
          this.acceptanceWaits = false;
          for (const row of rows) this.note(row);
          break;
        case 'change':
          if (update.change.head) this.head = update.change.head;
          if (update.change.rows.length > 0) {
            rows ??= [...this.rows];
            for (const row of update.change.rows) this.put(rows, row);
            this.provisional = null;
          }
          break;
        case 'provisional':
          // Text that comes late has its row already, or belongs to nothing any more.
          this.provisional = this.head?.state === 'running' && (update.text || update.thinking) ? { text: update.text, thinking: update.thinking } : null;
          break;
        case 'acting':
          this.acting = new Map(update.actions.map((live) => [live.key, live]));
          break;
        case 'problem':
          this.problem = new HostError('unreadable', update.message, '');
          break;
      }
    }
    if (rows) {
      this.rows = this.trimmed(rows);
      this.asked = [...this.waiting.values()];
    }
  }

  /** A run that goes on for hours grows on disk and not in here. */
  private trimmed(rows: Row[]): Row[] {
    if (rows.length <= ROWS_HELD || !this.atEnd) return rows;
    const kept = rows.slice(-ROWS_KEPT);
    this.earlier += rows.length - kept.length;
    this.prepending = true;
    this.index(kept);
    return kept;
  }

  private put(rows: Row[], row: Row): void {
    const place = this.places.get(row.key);
    const first = rows[0];
    if (place === undefined && first && row.seq < first.seq) {
      // It belongs to a page that is not held; it is read whole when it is wanted.
    } else if (place === undefined) {
      this.places.set(row.key, rows.length);
      rows.push(row);
    } else {
      rows[place] = row;
    }
    this.note(row);
  }

  private note(row: Row): void {
    if (row.content.kind === 'acceptance') {
      const waits = row.content.state === 'asked';
      if (this.acceptanceWaits && !waits) this.heard(ACCEPTANCE, { what: 'The result', said: row.content.said, why: 'It is no longer asked.' });
      this.acceptanceWaits = waits;
      return;
    }
    if (row.content.kind !== 'action') return;
    const before = this.waiting.get(row.key);
    const waits = WAITS.has(row.content.state);
    // A server may ask again while the same action runs.
    const asksOn = before !== undefined && openQuestion(before)?.number === openQuestion(row.content)?.number;
    if (before && (!waits || !asksOn)) {
      this.waiting.delete(row.key);
      const said = row.content.said.length > before.said.length ? (row.content.said.at(-1) ?? null) : null;
      this.heard(row.key, { what: row.content.tool, said, why: whyNoMore(before, row.content) });
    }
    if (waits) {
      // The same action may wait again, for another answer.
      if (before?.seen !== row.content.seen || before?.state !== row.content.state) this.answered.delete(row.key);
      this.waiting.set(row.key, { ...row.content, key: row.key });
    }
  }

  private heard(key: string, elsewhere: Elsewhere): void {
    const here = this.answered.delete(key);
    if (!here || (elsewhere.said !== null && elsewhere.said.from !== 'window')) this.elsewhere = elsewhere;
  }

  private index(rows: readonly Row[]): void {
    this.places = new Map(rows.map((row, place) => [row.key, place]));
  }
}
