import type { ActionState, Effect, ToolErrorClass } from '$host/bindings';

/** The words and the tone of each state of an action. */
export const ACTION_STATES: Record<ActionState, { words: string; tone: 'soft' | 'run' | 'wait' | 'good' | 'bad' }> = {
  proposed: { words: 'proposed', tone: 'soft' },
  rejected: { words: 'arguments refused', tone: 'bad' },
  asked: { words: 'waits for you', tone: 'wait' },
  allowed: { words: 'allowed', tone: 'soft' },
  denied: { words: 'denied', tone: 'bad' },
  started: { words: 'running', tone: 'run' },
  succeeded: { words: 'done', tone: 'good' },
  failed: { words: 'failed', tone: 'bad' },
  uncertain: { words: 'may have happened', tone: 'wait' },
};

/** What an effect means, in a sentence. */
export const EFFECTS: Record<Effect, string> = {
  read: 'Reads, changes nothing',
  workspace: 'Changes files of this run’s workspace only',
  reversible: 'Changes something outside that can be taken back',
  irreversible: 'Changes something outside for good',
};

export const ERRORS: Record<ToolErrorClass, string> = {
  invalid_arguments: 'invalid arguments',
  not_permitted: 'not permitted',
  not_found: 'not found',
  conflict: 'conflict',
  temporary: 'temporary',
  failed: 'failed',
  cancelled: 'cancelled',
};
