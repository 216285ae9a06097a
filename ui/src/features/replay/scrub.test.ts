import { describe, expect, it } from 'vitest';
import type { KnotShape, KnotTone } from '$host/bindings';
import { drawnOf, EDGE, pauseMs, seqAt, xOf } from './scrub';

const mark = (seq: number, shape: KnotShape = 'ring', tone: KnotTone = 'plain') => ({ seq, at: 0, step: 0, row: `r${seq}`, knot: { shape, tone, label: '', detail: '' } });

describe('the rein as a scrubber', () => {
  it('holds the first event at one end and the last at the other', () => {
    expect([xOf(1, 180, 900), xOf(180, 180, 900)]).toEqual([EDGE, 900 - EDGE]);
    expect(xOf(1, 1, 900)).toBe(EDGE);
  });

  it('gives back the event that was taken from it, and never one that is not there', () => {
    for (const seq of [1, 2, 57, 180]) expect(seqAt(xOf(seq, 180, 900), 180, 900)).toBe(seq);
    expect([seqAt(-50, 180, 900), seqAt(5_000, 180, 900), seqAt(3, 1, 10)]).toEqual([1, 180, 1]);
  });

  it('draws what there is room for, first of all what stands out', () => {
    const marks = Array.from({ length: 1_000 }, (_, place) => mark(place + 1, place % 100 === 50 ? 'splice' : 'ring'));
    const drawn = drawnOf(marks, 1_000, 600);
    expect(drawn.length).toBeLessThanOrEqual(Math.ceil(600 / 9));
    expect(drawn.filter(({ mark: { knot } }) => knot.shape === 'splice')).toHaveLength(10);
    expect(drawn.at(-1)?.mark.seq).toBe(1_000);
    expect(drawn.every(({ x }, place) => place === 0 || x > (drawn[place - 1]?.x ?? 0))).toBe(true);
  });

  it('plays as fast as it went, and waits out no pause', () => {
    expect(pauseMs(800, 1)).toBe(800);
    expect(pauseMs(800, 4)).toBe(200);
    expect(pauseMs(3_600_000, 1)).toBe(2_000);
    expect(pauseMs(0, 16)).toBe(40);
    expect(pauseMs(-5, 1)).toBe(40);
  });
});
