import type { ActionState, CheckName, Decision, Effect, Limit, PlanState, RunLine, SaidLine, Scope, Surface, ToolErrorClass } from '$host/bindings';
import { clockTime, dollars, plural } from '$shared/format';
import { RUN_STATES } from '$shared/states';
import { strandState, type StrandState } from './rein';

/** The words and the tone of each state of an action. */
export const ACTION_STATES: Record<ActionState, { words: string; tone: 'soft' | 'run' | 'wait' | 'good' | 'bad' }> = {
  proposed: { words: 'proposed', tone: 'soft' },
  rejected: { words: 'arguments refused', tone: 'bad' },
  asked: { words: 'waits for you', tone: 'wait' },
  asks_you: { words: 'asks you', tone: 'wait' },
  allowed: { words: 'allowed', tone: 'soft' },
  denied: { words: 'denied', tone: 'bad' },
  withdrawn: { words: 'no longer asked', tone: 'soft' },
  started: { words: 'running', tone: 'run' },
  succeeded: { words: 'done', tone: 'good' },
  failed: { words: 'failed', tone: 'bad' },
  finding_out: { words: 'finding out', tone: 'run' },
  uncertain: { words: 'may have happened', tone: 'wait' },
  unknown: { words: 'may have happened', tone: 'soft' },
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

/** How far an item of a plan, or a stage, is. */
export const PLAN_STATES: Record<PlanState, string> = { open: 'open', doing: 'being worked on', done: 'done', dropped: 'dropped' };

/** What each check of the gate is about, and what it means that it simply says yes. */
export const CHECKS: Record<CheckName, { about: string; yes: string }> = {
  granted: { about: 'Granted', yes: 'the tool is granted to this agent' },
  schema: { about: 'Arguments', yes: 'they are as the tool wants them' },
  effect: { about: 'Effect', yes: 'what it may do is declared' },
  secrets: { about: 'Secrets', yes: 'it needs none but its own' },
  reach: { about: 'Reach', yes: 'it stays where it may go' },
  budget: { about: 'Budget', yes: 'the limits cover it' },
  rules: { about: 'Rules', yes: 'they have nothing against it' },
  taint: { about: 'Untrusted text', yes: 'none was read, or it does not reach outside' },
};

/** What a check or a rule says. */
export const DECISIONS: Record<Decision, string> = { allow: 'yes', ask: 'ask', deny: 'no' };

/** What a rule does with what it matches. */
export const RULE_DECISIONS: Record<Decision, string> = { allow: 'Allows', ask: 'Asks about', deny: 'Denies' };

/** How far a rule reaches. */
export const SCOPES: Record<Scope, string> = { run: 'This run', agent: 'This agent', everywhere: 'Everywhere' };

/** Where a person said something. */
export const SURFACES: Record<Surface, string> = { command: 'the command line', window: 'the window', api: 'the API' };

/** `approved from the command line at 20:41`. */
export function saidWords(said: SaidLine): string {
  const place = said.from === null ? '' : ` from ${SURFACES[said.from]}`;
  return `${said.words}${place} at ${clockTime(said.at)}`;
}

/** What each hard limit counts. */
export const LIMITS: Record<Limit, { name: string; unit: string }> = {
  steps: { name: 'Steps', unit: 'steps' },
  tokens_in: { name: 'Tokens in', unit: 'tokens in' },
  tokens_out: { name: 'Tokens out', unit: 'tokens out' },
  working_minutes: { name: 'Working time', unit: 'minutes of work' },
  actions: { name: 'Actions', unit: 'actions' },
  money: { name: 'Cost', unit: 'dollars' },
};

/** So much of a limit, exactly: `2,000,000`, `$3.00`. */
export function limitAmount(limit: Limit, amount: number): string {
  return limit === 'money' ? dollars(amount) : amount.toLocaleString('en');
}

/** How many strands stand how, in the order in which they are told. */
const STRANDS: readonly [state: StrandState, one: string, many: string][] = [
  ['waiting', 'waits', 'wait'],
  ['running', 'works', 'work'],
  ['resting', 'paused', 'paused'],
  ['failed', 'failed', 'failed'],
  ['gone', 'cancelled', 'cancelled'],
  ['joined', 'back', 'back'],
];

/** Helpers that stand beside the line in words: `3 helpers`, `1 works · 2 back`, `6 work`. */
export function branchWords(lines: readonly RunLine[], knot: { label: string; detail: string }): { label: string; detail: string } {
  const states = lines.map((line) => strandState(line.state));
  const only = lines.length === 1 ? lines[0] : undefined;
  if (only) return { label: only.title || knot.label, detail: RUN_STATES[only.state].words };
  const counted = STRANDS.map(([state, one, many]) => {
    const number = states.filter((known) => known === state).length;
    return [number, number === 1 ? one : many] as const;
  }).filter(([number]) => number > 0);
  return { label: plural(lines.length, 'helper'), detail: counted.map(([number, words]) => `${number} ${words}`).join(' · ') };
}
