import type { RunState, SearchHit } from '$host/bindings';
import { HostError, type Host } from '$host/host';
import type { Filter, StateFilter } from './filter';

/** So long a person may pause between two letters before it is searched. */
const PAUSE_MS = 180;

/** The states that a filter lets through; none means every one. */
export const STATES: Record<StateFilter, readonly RunState[]> = {
  all: [],
  waiting: ['waiting', 'handed_off', 'interrupted'],
  running: ['running'],
  done: ['accepted', 'unverified'],
  failed: ['failed', 'cancelled', 'paused', 'unreadable'],
};

/** What was found for the words of a filter; an answer that was overtaken is dropped. */
export class SearchModel {
  hits = $state.raw<readonly SearchHit[]>([]);
  next = $state('');
  busy = $state(false);
  error = $state.raw<HostError | null>(null);
  /** The words that {@link hits} are of. */
  words = $state('');

  private turn = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private filter: Filter | null = null;

  constructor(private readonly host: Host) {}

  /** Searches once the person pauses. */
  look(filter: Filter): void {
    clearTimeout(this.timer);
    this.filter = { ...filter };
    this.turn += 1;
    if (filter.words.trim() === '') {
      Object.assign(this, { hits: [], next: '', busy: false, error: null, words: '' });
      return;
    }
    this.busy = true;
    this.timer = setTimeout(() => void this.ask(''), PAUSE_MS);
  }

  async more(): Promise<void> {
    if (this.next !== '' && !this.busy) await this.ask(this.next);
  }

  end(): void {
    clearTimeout(this.timer);
    this.turn += 1;
  }

  private async ask(after: string): Promise<void> {
    const filter = this.filter;
    if (!filter) return;
    this.turn += 1;
    const turn = this.turn;
    this.busy = true;
    try {
      const page = await this.host.searchRuns({ words: filter.words.trim(), states: [...STATES[filter.state]], agent: filter.agent, run: '', after });
      if (turn !== this.turn) return;
      this.hits = after === '' ? page.hits : [...this.hits, ...page.hits];
      this.next = page.next;
      this.words = filter.words.trim();
      this.error = null;
    } catch (thrown) {
      if (turn !== this.turn) return;
      Object.assign(this, { hits: [], next: '', error: HostError.from(thrown) });
    } finally {
      if (turn === this.turn) this.busy = false;
    }
  }
}

/** A text in parts, of which every second is a place that was found. */
export function inPlace(hit: Pick<SearchHit, 'text' | 'marks'>): string[] {
  const parts: string[] = [];
  let from = 0;
  for (const mark of hit.marks) {
    if (mark.from < from || mark.to > hit.text.length) continue;
    parts.push(hit.text.slice(from, mark.from), hit.text.slice(mark.from, mark.to));
    from = mark.to;
  }
  return [...parts, hit.text.slice(from)];
}
