import type { Knot, KnotShape, Row, RunLine, RunState } from '$host/bindings';

/** The geometry of the rein: where each knot stands and where the line is open. */

/** From one knot to the next, in pixels. */
export const PITCH = 48;
/** From the top edge, where the line comes from the hand, to the first knot. */
export const TOP = 36;
/** How far the line runs on past the last knot of a run that is not at its end. */
export const TAIL = 72;
/** Where the line runs. */
export const LINE_X = 34;
/** What a knot with branches takes of the line. */
const BRANCHES_PITCH = 2 * PITCH;
/** From its middle to where the branches leave the line, and to where they join it again. */
const BRANCHES_HALF = 42;
/** How long a branch takes to come to its own place. */
const BEND = 32;
/** From one branch to the next, where there is room. */
const BRANCH_PITCH = 16;

/** How a strand beside the line stands: it works, waits for a person, came back, or was cut off. */
export type StrandState = 'running' | 'waiting' | 'resting' | 'joined' | 'failed' | 'gone';

/** A knot with the row that carries it. */
export interface ReinKnot {
  key: string;
  /** The place of its row in the conversation. */
  place: number;
  at: number;
  knot: Knot;
  /** Where it stands from the top edge, in pixels. */
  y: number;
  /** Whether the line is open here until a person closes it. */
  open: boolean;
  /** The runs that it delegates to, side by side; none for a knot on the line itself. */
  branches: readonly RunLine[];
}

/** A straight part of the line. */
export interface Strand {
  from: number;
  to: number;
}

/**
 * The knots of a run in this state, with the runs that each row delegates to. A break that was closed
 * is drawn as a part of the line.
 */
export function knotsOf(rows: readonly Row[], state: RunState, delegated: ReadonlyMap<string, readonly RunLine[]> = NOBODY): ReinKnot[] {
  const knots: ReinKnot[] = [];
  let edge = TOP - PITCH / 2;
  rows.forEach((row, place) => {
    if (!row.knot) return;
    const branches = delegated.get(row.key) ?? [];
    const height = branches.length > 0 ? BRANCHES_PITCH : PITCH;
    knots.push({ key: row.key, place, at: row.at, knot: row.knot, y: edge + height / 2, open: false, branches });
    edge += height;
  });
  knots.forEach((entry, index) => {
    if (entry.knot.shape !== 'break' || entry.knot.tone !== 'waiting') return;
    entry.open = isAsked(rows[entry.place]) || (index === knots.length - 1 && state !== 'running');
    // What was closed is a part of the line; a pause is open, but asks nothing of anybody.
    if (!entry.open || state === 'paused') entry.knot = { ...entry.knot, tone: 'plain' };
  });
  return knots;
}

const NOBODY: ReadonlyMap<string, readonly RunLine[]> = new Map();

/** What waits for an answer is open whatever came after it; a pause or a handoff only while it lasts. */
function isAsked(row: Row | undefined): boolean {
  const content = row?.content;
  if (content?.kind === 'acceptance') return content.state === 'asked';
  return content?.kind === 'action' && (content.state === 'asked' || content.state === 'asks_you' || content.state === 'uncertain');
}

/** The first knot that stands below `y`, or the number of knots. */
export function knotBelow(knots: readonly ReinKnot[], y: number): number {
  let low = 0;
  let high = knots.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((knots[middle]?.y ?? 0) <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The height of the whole rein. */
export function reinHeight(knots: readonly ReinKnot[]): number {
  const last = knots.at(-1);
  return (last ? last.y + half(last) : TOP) + TAIL + 8;
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
    const from = before ? before.y + half(before) : 0;
    const to = entry.y - half(entry);
    const joined = parts.at(-1);
    if (joined && joined.to === from) joined.to = to;
    else parts.push({ from, to });
  }
  return parts;
}

/** So far from the middle of a knot the line ends and begins again. */
function half(entry: ReinKnot): number {
  if (entry.branches.length > 0) return BRANCHES_HALF;
  return entry.knot.shape === 'splice' ? SPLICE_GAP : 0;
}

/** Strands as one path, so that the rein is one line. */
export function path(parts: readonly Strand[]): string {
  return parts.map((part) => `M${LINE_X} ${part.from}V${part.to}`).join('');
}

/** One of the branches of a knot. */
export interface Branch {
  line: RunLine;
  state: StrandState;
  /** Where it runs, and how large its knot may be. */
  x: number;
  radius: number;
  /** From where it leaves the line to its own knot, or on to where it joins the line again. */
  path: string;
  /** Past its knot, while it has not come back; else empty. */
  tail: string;
}

/** How a run that was delegated to stands beside its parent's line. */
export function strandState(state: RunState): StrandState {
  switch (state) {
    case 'running':
      return 'running';
    case 'waiting':
    case 'interrupted':
      return 'waiting';
    case 'paused':
      return 'resting';
    case 'accepted':
    case 'unverified':
      return 'joined';
    case 'cancelled':
      return 'gone';
    default:
      return 'failed';
  }
}

/** The branches of a knot, evenly in the room at the right of the line. */
export function branchesOf(entry: ReinKnot, room: number): Branch[] {
  const pitch = Math.min(BRANCH_PITCH, room / Math.max(1, entry.branches.length));
  const [top, bottom] = [entry.y - BRANCHES_HALF, entry.y + BRANCHES_HALF];
  return entry.branches.map((line, place) => {
    const x = Math.round((LINE_X + (place + 1) * pitch) * 10) / 10;
    const state = strandState(line.state);
    const leaves = `M${LINE_X} ${top}C${LINE_X} ${top + BEND / 2} ${x} ${top + BEND / 2} ${x} ${top + BEND}`;
    const joins = `V${bottom - BEND}C${x} ${bottom - BEND / 2} ${LINE_X} ${bottom - BEND / 2} ${LINE_X} ${bottom}`;
    const back = state === 'joined' || state === 'failed';
    return { line, state, x, radius: Math.min(4, pitch * 0.42), path: `${leaves}${back ? joins : `V${entry.y}`}`, tail: back || state === 'gone' ? '' : `M${x} ${entry.y + 7}V${bottom}` };
  });
}

/** The line itself beside its branches, paler: the run waits for them. */
export function trunk(entry: ReinKnot): string {
  return `M${LINE_X} ${entry.y - BRANCHES_HALF}V${entry.y + BRANCHES_HALF}`;
}

/** How far to the right the branches of a knot reach. */
export function reach(entry: ReinKnot, room: number): number {
  return entry.branches.length === 0 ? LINE_X : LINE_X + Math.min(room, entry.branches.length * BRANCH_PITCH);
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
