import type { ActionRow, FieldLine, ServerQuestionLine } from '$host/bindings';

/** What a person has typed or chosen so far in a field. */
export type Entry = string | string[];

/** A choice of few is made among all of them at once, one of many from a list. */
export const CHOICES_IN_SIGHT = 5;

/** The question of a server that waits longest; `undefined` where none does. */
export function openQuestion(action: ActionRow): ServerQuestionLine | undefined {
  return action.server_questions.find((line) => line.state === 'open');
}

/** A form as it is before anything is typed: with what the server proposes. */
export function begun(fields: readonly FieldLine[]): Entry[] {
  return fields.map(proposed);
}

function proposed(field: FieldLine): Entry {
  const value: unknown = field.default === '' ? '' : JSON.parse(field.default);
  const known = (value: unknown) => field.choices.some((choice) => choice.value === value);
  if (field.kind === 'many') return Array.isArray(value) ? value.filter(known).map(String) : [];
  if (field.kind === 'one') return known(value) ? String(value) : '';
  return value === null || typeof value === 'object' ? '' : String(value);
}

/**
 * What is sent, as JSON: each value as it was typed or chosen, and nothing where nothing was. What the
 * server proposed and the person took away is sent as taken away: it is told whether that may be.
 */
export function values(fields: readonly FieldLine[], entries: readonly Entry[]): string {
  const named = fields.map((field, place) => [field, entries[place] ?? ''] as const);
  const said = named.filter(([field, entry]) => field.default !== '' || entry.length > 0);
  return JSON.stringify(Object.fromEntries(said.map(([field, entry]) => [field.name, entry])));
}
