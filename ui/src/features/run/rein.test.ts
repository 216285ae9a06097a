import { describe, expect, it } from 'vitest';
import type { Knot, Row, RunLine, RunState } from '$host/bindings';
import { branchesOf, knotBelow, knotsOf, path, reach, reinHeight, smallKnots, strands, strandState, tailOf } from './rein';

const knot = (shape: Knot['shape'], tone: Knot['tone'] = 'plain'): Knot => ({ shape, tone, label: shape, detail: '' });
const rows = (...knots: (Knot | null)[]): Row[] =>
  knots.map((entry, place) => ({ key: `r${place}`, seq: place + 1, at: 0, step: 0, content: { kind: 'notice', text: '' }, knot: entry }));

/** The place of a knot of a run without branches. */
const knotY = (index: number) => knotsOf(rows(...Array.from({ length: index + 1 }, () => knot('ring'))), 'running')[index]!.y;
const child = (run: string, state: RunState): RunLine => ({ run, state, parent: 'r', title: run, created_at: 0 }) as RunLine;

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
    expect(reinHeight(knots)).toBeGreaterThan(knotY(999));
    expect(knotBelow(knots, knotY(500))).toBe(501);
    expect(knotBelow(knots, 0)).toBe(0);
  });

  it('runs on while the run does, and ends where the run ended', () => {
    expect(tailOf('running')).toBe('running');
    expect(tailOf('handed_off')).toBe('waiting');
    expect(tailOf('paused')).toBe('resting');
    expect(tailOf('accepted')).toBe('ended');
    expect(strands([], 0, -1)).toEqual([]);
  });

  it('divides where helpers work, pale beside them, and is one line again where they came back', () => {
    const lines = [child('a', 'accepted'), child('b', 'running'), child('c', 'cancelled')];
    const knots = knotsOf(rows(knot('person'), knot('ring'), knot('ring')), 'running', new Map([['r1', lines]]));
    const [before, divided, after] = knots;
    // It takes more of the line, and what comes after stands further down.
    expect(after!.y - before!.y).toBeGreaterThan(knotY(2) - knotY(0));
    const parts = strands(knots, 0, 2);
    expect(parts).toHaveLength(2);
    const branches = branchesOf(divided!, 60);
    expect(branches.map((branch) => branch.state)).toEqual(['joined', 'running', 'gone']);
    expect(new Set(branches.map((branch) => branch.x)).size).toBe(3);
    // Who came back ends where the line goes on; who works is paid out beside it; who was cut off ends.
    expect(branches[0]!.path.endsWith(`34 ${parts[1]!.from}`)).toBe(true);
    expect(branches[1]!.tail).not.toBe('');
    expect(branches[2]!.path.endsWith(`V${divided!.y}`)).toBe(true);
    expect(branches[2]!.tail).toBe('');
  });

  it('keeps eight branches within their room', () => {
    const lines = Array.from({ length: 8 }, (_, place) => child(`c${place}`, 'running'));
    const entry = knotsOf(rows(knot('ring')), 'running', new Map([['r0', lines]]))[0]!;
    for (const room of [60, 26]) {
      expect(Math.max(...branchesOf(entry, room).map((branch) => branch.x))).toBe(34 + room);
      expect(reach(entry, room)).toBe(34 + room);
    }
  });

  it('tells how a helper stands by its state', () => {
    const told: Record<RunState, string> = { running: 'running', waiting: 'waiting', interrupted: 'waiting', paused: 'resting', accepted: 'joined', unverified: 'joined', cancelled: 'gone', failed: 'failed', handed_off: 'failed', unreadable: 'failed' };
    for (const [state, strand] of Object.entries(told)) expect(strandState(state as RunState)).toBe(strand);
  });

  it('lies on its side in the list, oldest knot left', () => {
    const small = smallKnots(['person', 'ring', 'end']);
    expect(small.map((entry) => entry.shape)).toEqual(['person', 'ring', 'end']);
    expect(small[0]!.x).toBeLessThan(small[1]!.x);
  });
});
