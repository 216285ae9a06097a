import type { Knot, KnotShape, Row, RunState } from '$host/bindings';

/** The geometry of the rein: where each knot stands and where the line is open. */

/** From one knot to the next, in pixels. */
export const PITCH = 48;
/** From the top edge, where the line comes from the hand, to the first knot. */
export const TOP = 36;
/** How far the line runs on past the last knot of a run that is not at its end. */
export const TAIL = 72;
/** Where the line runs. */
export const LINE_X = 34;

/** A knot with the row that carries it. */
export interface ReinKnot {
  key: string;
  /** The place of its row in the conversation. */
  place: number;
  at: number;
  knot: Knot;
  /** Whether the line is open here until a person closes it. */
  open: boolean;
}

/** A straight part of the line. */
export interface Strand {
  from: number;
  to: number;
}

/** The knots of a run in this state. A break that was closed is drawn as a part of the line. */
export function knotsOf(rows: readonly Row[], state: RunState): ReinKnot[] {
  const knots: ReinKnot[] = [];
  rows.forEach((row, place) => {
    if (row.knot) knots.push({ key: row.key, place, at: row.at, knot: row.knot, open: false });
  });
  knots.forEach((entry, index) => {
    if (entry.knot.shape !== 'break' || entry.knot.tone !== 'waiting') return;
    entry.open = isAsked(rows[entry.place]) || (index === knots.length - 1 && state !== 'running');
    // What was closed is a part of the line; a pause is open, but asks nothing of anybody.
    if (!entry.open || state === 'paused') entry.knot = { ...entry.knot, tone: 'plain' };
  });
  return knots;
}

/** What waits for an answer is open whatever came after it; a pause or a handoff only while it lasts. */
function isAsked(row: Row | undefined): boolean {
  const content = row?.content;
  if (content?.kind === 'acceptance') return content.state === 'asked';
  return content?.kind === 'action' && (content.state === 'asked' || content.state === 'asks_you' || content.state === 'uncertain');
}

export function knotY(index: number): number {
  return TOP + index * PITCH;
}

/** The height of the whole rein. */
export function reinHeight(knots: number): number {
  return knotY(Math.max(0, knots - 1)) + TAIL + 8;
}

/** Half of the gap that a crash leaves in the line. */
const SPLICE_GAP = 4;

/**
 * The strands of the line from the knot before `first` to the one after `last`, and from the top
 * edge when `first` is the first of all and the run `begins` with it. A crash leaves a gap for ever; an open approval ends the
 * line until a person closes it.
 */
export function strands(knots: readonly ReinKnot[], first: number, last: number, begins = true): Strand[] {
  const parts: Strand[] = [];
  for (let index = first; index <= last + 1; index += 1) {
    const entry = knots[index];
    if (!entry) break;
    const before = knots[index - 1];
    if (before?.open) continue;
    if (!before && !begins) continue;
    const from = before ? knotY(index - 1) + gap(before.knot) : 0;
    const to = knotY(index) - gap(entry.knot);
    const joined = parts.at(-1);
    if (joined && joined.to === from) joined.to = to;
    else parts.push({ from, to });
  }
  return parts;
}

function gap(knot: Knot): number {
  return knot.shape === 'splice' ? SPLICE_GAP : 0;
}

/** Strands as one path, so that the rein is one line. */
export function path(parts: readonly Strand[]): string {
  return parts.map((part) => `M${LINE_X} ${part.from}V${part.to}`).join('');
}

/** How the line runs on past its last knot. */
export function tailOf(state: RunState): 'running' | 'waiting' | 'resting' | 'ended' {
  switch (state) {
    case 'running':
      return 'running';
    case 'waiting':
    case 'handed_off':
    case 'interrupted':
      return 'waiting';
    case 'paused':
      return 'resting';
    default:
      return 'ended';
  }
}

/** A knot of the small rein: only its shape is known. */
export interface SmallKnot {
  x: number;
  shape: KnotShape;
}

export const SMALL_PITCH = 9;
export const SMALL_HEIGHT = 18;

/** The small rein lies on its side, oldest knot left. */
export function smallKnots(shapes: readonly KnotShape[]): SmallKnot[] {
  return shapes.map((shape, index) => ({ x: 8 + index * SMALL_PITCH, shape }));
}
