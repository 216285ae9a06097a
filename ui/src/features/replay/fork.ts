import type { ActionRow, ForkRequest, Row } from '$host/bindings';

/** What a person wants to be otherwise in a fork, as they write it. */
export interface Wanted {
  model: string;
  agent: string;
  instructions: string;
  /** The action whose result is another one; empty for none. */
  action: string;
  result: string;
  rules: readonly { decision: 'ask' | 'deny' | 'allow'; tool: string }[];
  /** One key a line. */
  keys: string;
}

export const SAME = '';

/** A line that has no value. */
export class LineWithoutValue extends Error {
  constructor(readonly line: string) {
    super(line);
  }
}

/** The keys of lines like `model.temperature = 0.2`. */
export function keysOf(text: string): { key: string; value: string }[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const at = line.indexOf('=');
      const [key, value] = [line.slice(0, at).trim(), line.slice(at + 1).trim()];
      if (at < 0 || key === '' || value === '') throw new LineWithoutValue(line);
      return { key, value };
    });
}

/** What the backend is asked for: what is empty stays as it was. */
export function requestOf(run: string, seq: number, wanted: Wanted): ForkRequest {
  const or = (text: string) => (text.trim() === SAME ? null : text);
  return {
    run,
    seq,
    model: or(wanted.model),
    agent: or(wanted.agent),
    instructions: or(wanted.instructions),
    rules: wanted.rules.map((rule) => JSON.stringify({ tool: rule.tool, decision: rule.decision })),
    set: keysOf(wanted.keys),
    results: wanted.action === SAME ? [] : [{ action: wanted.action, text: wanted.result }],
  };
}

/** Actions whose result the model was told by then, the last first. */
export function resultsOf(rows: readonly Row[]): ActionRow[] {
  return rows.flatMap((row) => (row.content.kind === 'action' && row.content.result !== '' ? [row.content] : [])).reverse();
}
