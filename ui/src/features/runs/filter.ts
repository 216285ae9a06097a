import type { RunLine } from '$host/bindings';
import { needsPerson } from '$shared/states';

/** Which runs are listed. */
export interface Filter {
  /** Words of the title, or of the name of the agent or the model; each has to occur. */
  words: string;
  state: StateFilter;
  /** The name of an agent; empty for every one. */
  agent: string;
  time: TimeFilter;
}

export type StateFilter = 'all' | 'waiting' | 'running' | 'done' | 'failed';
export type TimeFilter = 'any' | 'day' | 'week' | 'month';

export const NO_FILTER: Filter = { words: '', state: 'all', agent: '', time: 'any' };

export const STATE_FILTERS: readonly { value: StateFilter; words: string }[] = [
  { value: 'all', words: 'All' },
  { value: 'waiting', words: 'Waiting' },
  { value: 'running', words: 'At work' },
  { value: 'done', words: 'Done' },
  { value: 'failed', words: 'Not done' },
];

const DAY_MS = 24 * 60 * 60 * 1_000;
export const TIME_FILTERS: readonly { value: TimeFilter; words: string; days: number | null }[] = [
  { value: 'any', words: 'Any time', days: null },
  { value: 'day', words: 'The last day', days: 1 },
  { value: 'week', words: 'The last week', days: 7 },
  { value: 'month', words: 'The last month', days: 31 },
];

/** Whether anything is filtered. */
export function filters(filter: Filter): boolean {
  return filter.words.trim() !== '' || filter.state !== 'all' || filter.agent !== '' || filter.time !== 'any';
}

function inState(line: RunLine, state: StateFilter): boolean {
  switch (state) {
    case 'all':
      return true;
    case 'waiting':
      return needsPerson(line.state);
    case 'running':
      return line.state === 'running';
    case 'done':
      return line.state === 'accepted' || line.state === 'unverified';
    case 'failed':
      return line.state === 'failed' || line.state === 'cancelled' || line.state === 'paused' || line.state === 'unreadable';
  }
}

/** Whether a run passes all but the words of a filter. */
export function passes(line: RunLine, filter: Filter, now: number): boolean {
  const days = TIME_FILTERS.find((entry) => entry.value === filter.time)?.days ?? null;
  return inState(line, filter.state) && (filter.agent === '' || line.agent === filter.agent) && (days === null || line.updated_at >= now - days * DAY_MS);
}

/** Whether each of the words occurs in what the list shows of a run. */
export function named(line: RunLine, words: string): boolean {
  const shown = `${line.title} ${line.agent} ${line.model} ${line.run}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => shown.includes(word));
}

/**
 * The runs that are listed. What works for another run stands with that one, unless it waits for the
 * person or is looked for.
 */
export function listed(lines: readonly RunLine[], filter: Filter, now: number): RunLine[] {
  return lines.filter((line) => (!line.parent || needsPerson(line.state) || filter.words.trim() !== '') && passes(line, filter, now) && named(line, filter.words.trim()));
}
