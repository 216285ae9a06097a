import { describe, expect, it, vi } from 'vitest';
import type { Host } from '$host/host';
import { NO_FILTER } from './filter';
import { inPlace, SearchModel } from './search.svelte';

describe('what was found', () => {
  it('is marked where it stands', () => {
    expect(inPlace({ text: 'the build took', marks: [{ from: 4, to: 9 }] })).toEqual(['the ', 'build', ' took']);
    expect(inPlace({ text: 'a b', marks: [{ from: 0, to: 1 }, { from: 2, to: 3 }] })).toEqual(['', 'a', ' ', 'b', '']);
    // Places that are none are left out.
    expect(inPlace({ text: 'ab', marks: [{ from: 1, to: 9 }, { from: 0, to: 1 }, { from: 0, to: 2 }] })).toEqual(['', 'a', 'b']);
  });

  it('is asked for when the person pauses, and an answer that was overtaken is dropped', async () => {
    vi.useFakeTimers();
    const answers: ((page: unknown) => void)[] = [];
    const searchRuns = vi.fn(() => new Promise((resolve) => answers.push(resolve)));
    const model = new SearchModel({ searchRuns } as unknown as Host);
    for (const words of ['b', 'bu', 'build']) model.look({ ...NO_FILTER, words });
    vi.advanceTimersByTime(500);
    expect(searchRuns).toHaveBeenCalledTimes(1);
    model.look({ ...NO_FILTER, words: 'builds', state: 'done', agent: 'research' });
    vi.advanceTimersByTime(500);
    expect(searchRuns).toHaveBeenLastCalledWith({ words: 'builds', states: ['accepted', 'unverified'], agent: 'research', run: '', after: '' });
    answers[1]?.({ hits: [{ seq: 2 }], next: '7' });
    answers[0]?.({ hits: [{ seq: 1 }], next: '' });
    await vi.runAllTimersAsync();
    expect([model.hits.map((hit) => hit.seq), model.next, model.busy]).toEqual([[2], '7', false]);
    model.look({ ...NO_FILTER, words: ' ' });
    expect([model.hits.length, model.next]).toEqual([0, '']);
    vi.useRealTimers();
  });
});
