import type { RunState } from '$host/bindings';

export type Tone = 'run' | 'wait' | 'good' | 'bad' | 'soft';

/** The words and the tone of each state of a run, the same on every screen. */
export const RUN_STATES: Record<RunState, { words: string; tone: Tone }> = {
  running: { words: 'Working', tone: 'run' },
  waiting: { words: 'Waiting for you', tone: 'wait' },
  paused: { words: 'Paused', tone: 'soft' },
  handed_off: { words: 'Handed off to you', tone: 'wait' },
  accepted: { words: 'Accepted', tone: 'good' },
  unverified: { words: 'Finished, not verified', tone: 'soft' },
  failed: { words: 'Failed', tone: 'bad' },
  cancelled: { words: 'Cancelled', tone: 'soft' },
  interrupted: { words: 'Interrupted', tone: 'wait' },
  unreadable: { words: 'Can’t be read on', tone: 'bad' },
};

const FOR_THE_PERSON = new Set<RunState>(['waiting', 'handed_off', 'interrupted']);
const RESUMABLE = new Set<RunState>(['paused', 'handed_off', 'interrupted']);
const CLOSED = new Set<RunState>(['failed', 'cancelled', 'unreadable']);

/** Whether the run stands still until a person does something. */
export function needsPerson(state: RunState): boolean {
  return FOR_THE_PERSON.has(state);
}

/** Whether “Resume” is offered. The backend decides whether it happens. */
export function offersResume(state: RunState): boolean {
  return RESUMABLE.has(state);
}

/** Whether “Pause” is offered. */
export function offersPause(state: RunState): boolean {
  return state === 'running' || state === 'waiting';
}

/** Whether “Cancel” is offered. */
export function offersCancel(state: RunState): boolean {
  return offersPause(state) || offersResume(state);
}

/** Whether a field to say something is offered. */
export function offersWords(state: RunState): boolean {
  return !CLOSED.has(state);
}
