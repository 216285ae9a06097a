import type { RunLine } from '$host/bindings';
import { HostError, type Host, type Stop } from '$host/host';
import { needsPerson } from '$shared/states';
import { dayGroup } from '$shared/format';
import { NO_FILTER, type Filter } from './filter';

/** A heading of the list with its runs. */
export interface RunGroup {
  name: string;
  lines: RunLine[];
}

/** The list of runs as the backend sends it: upserts by run, newest first. */
export class RunsModel {
  lines = $state.raw<RunLine[]>([]);
  /** Whether the first message arrived. */
  ready = $state(false);
  error = $state.raw<HostError | null>(null);
  /** What is looked for; it stays while the person looks elsewhere. */
  filter = $state<Filter>({ ...NO_FILTER });
  /** How many runs each run has given work to. */
  helpers = $derived.by(() => {
    const counted = new Map<string, number>();
    for (const line of this.lines) if (line.parent) counted.set(line.parent, (counted.get(line.parent) ?? 0) + 1);
    return counted;
  });
  waiting = $derived(this.lines.filter((line) => needsPerson(line.state)).length);

  private stop: Stop | null = null;

  constructor(private readonly host: Host) {}

  async start(): Promise<void> {
    this.stop?.();
    this.stop = null;
    this.error = null;
    try {
      this.stop = await this.host.watchRuns((lines) => this.merge(lines));
    } catch (thrown) {
      this.error = HostError.from(thrown);
    }
  }

  end(): void {
    this.stop?.();
    this.stop = null;
  }

  find(run: string): RunLine | undefined {
    return this.lines.find((line) => line.run === run);
  }

  /** Runs that were deleted leave the list. */
  forget(runs: readonly string[]): void {
    const gone = new Set(runs);
    this.lines = this.lines.filter((line) => !gone.has(line.run));
  }

  merge(changed: RunLine[]): void {
    const byRun = new Map(this.lines.map((line) => [line.run, line]));
    for (const line of changed) byRun.set(line.run, line);
    this.lines = [...byRun.values()].sort((a, b) => b.created_at - a.created_at || b.run.localeCompare(a.run));
    this.ready = true;
  }
}

/** What waits for the person first, then what works, then the rest by day. */
export function groupRuns(lines: readonly RunLine[], now: number): RunGroup[] {
  const groups = new Map<string, RunLine[]>([
    ['Waiting for you', []],
    ['At work', []],
  ]);
  for (const line of lines) {
    const name = needsPerson(line.state) ? 'Waiting for you' : line.state === 'running' ? 'At work' : dayGroup(line.created_at, now);
    const group = groups.get(name);
    if (group) group.push(line);
    else groups.set(name, [line]);
  }
  return [...groups].filter(([, members]) => members.length > 0).map(([name, members]) => ({ name, lines: members }));
}
