import { describe, expect, it } from 'vitest';
import type { RunLine, RunState } from '$host/bindings';
import { lookedAt, waitingLines } from './inbox';

const line = (run: string, state: RunState, since: number) => ({ run, state, since }) as RunLine;

describe('what waits for the person', () => {
  const lines = [line('c', 'waiting', 30), line('a', 'running', 1), line('b', 'handed_off', 10), line('d', 'accepted', 2), line('e', 'interrupted', 20), line('f', 'paused', 3)];

  it('is what a person has to answer, longest wait first', () => {
    expect(waitingLines(lines).map(({ run }) => run)).toEqual(['b', 'e', 'c']);
  });

  it('stays where it is looked at, and goes on to the next when that is answered', () => {
    const waiting = waitingLines(lines);
    expect(lookedAt(waiting, 'e', 0)?.run).toBe('e');
    expect(lookedAt(waiting, null, 0)?.run).toBe('b');
    expect(lookedAt(waiting, 'gone', 1)?.run).toBe('e');
    expect(lookedAt(waiting, 'gone', 7)?.run).toBe('c');
    expect(lookedAt([], 'gone', 0)).toBeNull();
  });
});
