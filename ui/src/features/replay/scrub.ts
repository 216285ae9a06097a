import type { KnotShape, KnotTone, Mark } from '$host/bindings';

/** The geometry of the rein as a scrubber: it lies on its side, from the first event to the last. */

/** What stays free at both ends, so that the first and the last knot are whole. */
export const EDGE = 12;
/** Knots stand no closer than this; those that stand out take the place of rings. */
const APART = 9;

/** Where an event stands. */
export function xOf(seq: number, last: number, width: number): number {
  if (last <= 1) return EDGE;
  return EDGE + ((seq - 1) / (last - 1)) * (width - 2 * EDGE);
}

/** Which event stands there, the nearest. */
export function seqAt(x: number, last: number, width: number): number {
  const share = (x - EDGE) / Math.max(1, width - 2 * EDGE);
  return Math.min(last, Math.max(1, Math.round(share * (last - 1)) + 1));
}

export interface Drawn {
  mark: Mark;
  x: number;
}

/** The knots for which there is room. What stands out comes before rings, the last of all is always drawn. */
export function drawnOf(marks: readonly Mark[], last: number, width: number): Drawn[] {
  const placed = marks.map((mark, place) => ({ mark, x: xOf(mark.seq, last, width), weight: place === marks.length - 1 ? 3 : weight(mark.knot.shape, mark.knot.tone) }));
  const taken: boolean[] = [];
  const cell = (x: number) => Math.floor(x / APART);
  const kept = new Set<number>();
  for (const wanted of [3, 2, 1]) {
    placed.forEach((entry, place) => {
      if (entry.weight !== wanted || taken[cell(entry.x)]) return;
      taken[cell(entry.x)] = true;
      kept.add(place);
    });
  }
  return placed.filter((_, place) => kept.has(place)).map(({ mark, x }) => ({ mark, x }));
}

function weight(shape: KnotShape, tone: KnotTone): number {
  return shape !== 'ring' ? 2 : tone === 'plain' ? 1 : 2;
}

/** How long playing waits before the next event: as long as it took, but no pause of the run is waited out. */
export function pauseMs(gapMs: number, speed: number): number {
  return Math.max(SHORTEST_MS, Math.min(Math.max(0, gapMs), LONGEST_MS) / speed);
}

/** No event is shown for less. */
const SHORTEST_MS = 40;
/** No pause of a run is waited out for longer, at the run's own pace. */
const LONGEST_MS = 2_000;
