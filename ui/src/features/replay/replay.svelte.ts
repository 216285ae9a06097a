import { HostError, type Host } from '$host/host';
import type { RunPoint, Scrubber } from '$host/bindings';
import { RunModel } from '$features/run/run.svelte';
import { pauseMs } from './scrub';

/** So many points come on one page. */
const PAGE = 1_000;
/** So many pages are held; those that were not looked at for longest leave. */
const PAGES_HELD = 12;

export type Speed = '1' | '4' | '16';

/** One run, looked back at: where in it, and what it was there. Nothing of it acts. */
export class ReplayModel {
  scrubber = $state.raw<Scrubber | null>(null);
  /** The event that is looked at. */
  seq = $state(0);
  /** The event of the view that is shown; it comes a moment after {@link seq}. */
  shown = $state(0);
  error = $state.raw<HostError | null>(null);
  playing = $state(false);
  speed = $state<Speed>('4');
  /** Whether the person is asked what the fork is to change. */
  forking = $state(false);
  /** The run as it was there, for the parts that draw a run. */
  readonly still: RunModel;
  /** The points by the first of their page. */
  pages = $state.raw<ReadonlyMap<number, readonly RunPoint[]>>(new Map());

  private loading = false;
  private ended = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly asked = new Map<number, Promise<readonly RunPoint[]>>();

  constructor(
    private readonly host: Host,
    readonly run: string,
  ) {
    this.still = new RunModel(host, run, (before) => this.host.rowsAt(run, this.shown, before));
  }

  get last(): number {
    return this.scrubber?.seq ?? 0;
  }

  /** The point that is looked at, where its page is here. */
  point = $derived.by(() => this.pointOf(this.seq));

  async start(seq: number | null): Promise<void> {
    this.error = null;
    try {
      this.scrubber = await this.host.runScrubber(this.run);
      this.go(seq ?? this.last);
    } catch (thrown) {
      this.error = HostError.from(thrown);
    }
  }

  end(): void {
    this.ended = true;
    this.pause();
    this.still.end();
  }

  /** Looks at an event. While a hand drags, what it passes too fast is left out. */
  go(seq: number): void {
    if (this.last === 0) return;
    this.seq = Math.min(this.last, Math.max(1, Math.round(seq)));
    void this.page(this.seq);
    if (!this.loading) void this.load();
  }

  private async load(): Promise<void> {
    this.loading = true;
    try {
      while (this.shown !== this.seq && !this.ended) {
        const seq = this.seq;
        const view = await this.host.runAt(this.run, seq);
        // What a row offers to do was done, or was not, long ago.
        const rows = view.rows.map((row) => (row.content.kind === 'action' && row.content.undo ? { ...row, content: { ...row.content, undo: false } } : row));
        this.still.receive({ kind: 'snapshot', view: { ...view, rows } });
        this.shown = seq;
        this.error = null;
      }
    } catch (thrown) {
      this.error = HostError.from(thrown);
      this.pause();
    } finally {
      this.loading = false;
    }
  }

  step(by: number): void {
    this.pause();
    this.go(this.seq + by);
  }

  pointOf(seq: number): RunPoint | null {
    const first = firstOf(seq);
    return this.pages.get(first)?.[seq - first] ?? null;
  }

  /** The page that an event is on. */
  async page(seq: number): Promise<readonly RunPoint[]> {
    const first = firstOf(seq);
    const known = this.pages.get(first) ?? this.asked.get(first);
    if (known) return known;
    const asking = this.host.runPoints(this.run, first).then(({ points }) => points);
    this.asked.set(first, asking);
    try {
      const points = await asking;
      this.pages = new Map([...this.pages, [first, points] as const].slice(-PAGES_HELD));
      return points;
    } catch (thrown) {
      this.error = HostError.from(thrown);
      return [];
    } finally {
      this.asked.delete(first);
    }
  }

  /** Goes to the next event of these kinds, or the one before; tells whether there is one. */
  async seek(kinds: readonly string[], by: 1 | -1 = 1): Promise<boolean> {
    this.pause();
    const from = this.seq;
    for (let seq = from + by; seq >= 1 && seq <= this.last; ) {
      const points = await this.page(seq);
      if (points.length === 0 || this.ended || this.seq !== from) return false;
      const first = points[0]?.seq ?? seq;
      const place = seq - first;
      const found = by > 0 ? points.find((point, at) => at >= place && kinds.includes(point.kind)) : points.findLast((point, at) => at <= place && kinds.includes(point.kind));
      if (found) {
        this.go(found.seq);
        return true;
      }
      seq = by > 0 ? first + points.length : first - 1;
    }
    return false;
  }

  play(): void {
    if (this.last === 0) return;
    if (this.seq >= this.last) this.go(1);
    this.playing = true;
    void this.next();
  }

  pause(): void {
    this.playing = false;
    clearTimeout(this.timer);
  }

  private async next(): Promise<void> {
    const seq = this.seq;
    if (seq >= this.last) return this.pause();
    await this.page(seq + 1);
    if (!this.playing || this.seq !== seq) return;
    const gap = (this.pointOf(seq + 1)?.at ?? 0) - (this.pointOf(seq)?.at ?? 0);
    this.timer = setTimeout(() => {
      // The picture keeps up: no event is passed before the one before it is shown.
      if (!this.loading) this.go(this.seq + 1);
      void this.next();
    }, pauseMs(gap, Number(this.speed)));
  }
}

function firstOf(seq: number): number {
  return Math.floor((seq - 1) / PAGE) * PAGE + 1;
}
