import { describe, expect, it } from 'vitest';
import type { RunLine, RunState } from '$host/bindings';
import { filters, listed, NO_FILTER } from './filter';

const DAY = 24 * 60 * 60 * 1_000;
const line = (run: string, state: RunState, parts: Partial<RunLine> = {}) => ({ run, state, title: `Title of ${run}`, agent: 'research', model: 'local/qwen3', updated_at: 100 * DAY, ...parts }) as RunLine;
const lines = [
  line('a', 'waiting'),
  line('b', 'running', { agent: 'triage' }),
  line('c', 'accepted', { updated_at: 98 * DAY, title: 'Vector indexes on one machine' }),
  line('d', 'cancelled', { updated_at: 20 * DAY }),
  line('helper', 'running', { parent: 'b' }),
  line('asking', 'waiting', { parent: 'b' }),
];
const runs = (more: Partial<typeof NO_FILTER>) => listed(lines, { ...NO_FILTER, ...more }, 100 * DAY).map(({ run }) => run);

describe('the list of runs', () => {
  it('leaves helpers with the run that they work for, but for those that wait for the person', () => {
    expect(runs({})).toEqual(['a', 'b', 'c', 'd', 'asking']);
    expect(filters(NO_FILTER)).toBe(false);
  });

  it('can be filtered by state, agent and time, each beside the others', () => {
    expect(runs({ state: 'waiting' })).toEqual(['a', 'asking']);
    expect(runs({ state: 'done' })).toEqual(['c']);
    expect(runs({ state: 'failed' })).toEqual(['d']);
    expect(runs({ agent: 'triage' })).toEqual(['b']);
    expect(runs({ time: 'week' })).toEqual(['a', 'b', 'c', 'asking']);
    expect(runs({ time: 'day', state: 'running' })).toEqual(['b']);
  });

  it('finds words of what it shows, in any order, helpers too', () => {
    expect(runs({ words: 'MACHINE vector' })).toEqual(['c']);
    expect(runs({ words: 'helper' })).toEqual(['helper']);
    expect(runs({ words: 'triage nowhere' })).toEqual([]);
    expect(filters({ ...NO_FILTER, words: ' x' })).toBe(true);
  });
});
