import { describe, expect, it } from 'vitest';
import type { Knot, Row } from '$host/bindings';
import { knotsOf, knotY, path, reinHeight, smallKnots, strands, tailOf } from './rein';

const knot = (shape: Knot['shape'], tone: Knot['tone'] = 'plain'): Knot => ({ shape, tone, label: shape, detail: '' });
const rows = (...knots: (Knot | null)[]): Row[] =>
  knots.map((entry, place) => ({ key: `r${place}`, seq: place + 1, at: 0, step: 0, content: { kind: 'notice', text: '' }, knot: entry }));

describe('the rein', () => {
  it('carries a knot for each row that has one, with the place of the row', () => {
    const knots = knotsOf(rows(knot('person'), null, knot('ring'), null, null, knot('end')), 'running');
    expect(knots.map((entry) => entry.place)).toEqual([0, 2, 5]);
  });

  it('is one line from the top edge to the last knot', () => {
    const knots = knotsOf(rows(knot('person'), knot('ring'), knot('square'), knot('end')), 'running');
    expect(strands(knots, 0, 3)).toEqual([{ from: 0, to: knotY(3) }]);
    expect(path(strands(knots, 0, 3))).toMatch(/^M\d+ 0V\d+$/);
  });

  it('keeps a gap where it was spliced', () => {
    const knots = knotsOf(rows(knot('person'), knot('splice', 'bad'), knot('ring')), 'running');
    const parts = strands(knots, 0, 2);
    expect(parts).toHaveLength(2);
    expect(parts[0]?.to).toBeLessThan(knotY(1));
    expect(parts[1]?.from).toBeGreaterThan(knotY(1));
  });

  it('is open after a question to the person until it is answered', () => {
    const asked = rows(knot('person'), knot('break', 'waiting'), knot('ring'));
    asked[1]!.content = { kind: 'action', state: 'asked' } as Row['content'];
    expect(strands(knotsOf(asked, 'waiting'), 0, 2)).toEqual([{ from: 0, to: knotY(1) }]);
    const answered = rows(knot('person'), knot('break', 'good'), knot('ring'));
    expect(strands(knotsOf(answered, 'running'), 0, 2)).toEqual([{ from: 0, to: knotY(2) }]);
  });

  it('is open after a pause or a handoff only while it lasts', () => {
    const stopped = rows(knot('person'), knot('break', 'waiting'));
    expect(knotsOf(stopped, 'handed_off')[1]).toMatchObject({ open: true, knot: { tone: 'waiting' } });
    expect(knotsOf(stopped, 'running')[1]).toMatchObject({ open: false, knot: { tone: 'plain' } });
    const later = rows(knot('break', 'waiting'), knot('ring'));
    expect(knotsOf(later, 'paused')[0]).toMatchObject({ open: false });
  });

  it('comes from further up when the run began before the first row', () => {
    const knots = knotsOf(rows(knot('ring'), knot('ring')), 'running');
    expect(strands(knots, 0, 1, false)).toEqual([{ from: knotY(0), to: knotY(1) }]);
  });

  it('draws a part as it stands in the whole, joined to what lies beyond', () => {
    const knots = knotsOf(rows(...Array.from({ length: 1_000 }, () => knot('ring'))), 'running');
    expect(strands(knots, 500, 510)).toEqual([{ from: knotY(499), to: knotY(511) }]);
    expect(reinHeight(1_000)).toBeGreaterThan(knotY(999));
  });

  it('runs on while the run does, and ends where the run ended', () => {
    expect(tailOf('running')).toBe('running');
    expect(tailOf('handed_off')).toBe('waiting');
    expect(tailOf('paused')).toBe('resting');
    expect(tailOf('accepted')).toBe('ended');
    expect(strands([], 0, -1)).toEqual([]);
  });

  it('lies on its side in the list, oldest knot left', () => {
    const small = smallKnots(['person', 'ring', 'end']);
    expect(small.map((entry) => entry.shape)).toEqual(['person', 'ring', 'end']);
    expect(small[0]!.x).toBeLessThan(small[1]!.x);
  });
});
