import type { Row, RunLine, RunState } from '$host/bindings';

/** The runs that a run delegates to, found in the list of all runs: only who belongs to whom. */

/** A run with those that it delegates to. */
export interface Family {
  line: RunLine;
  children: Family[];
}

/** The runs that this one delegates to, oldest first. */
export function childrenOf(run: string, lines: readonly RunLine[]): RunLine[] {
  return lines.filter((line) => line.parent === run).sort((one, other) => one.created_at - other.created_at || one.run.localeCompare(other.run));
}

/** The same with all that came of them. */
export function familyOf(run: string, lines: readonly RunLine[]): Family[] {
  return childrenOf(run, lines).map((line) => ({ line, children: familyOf(line.run, lines) }));
}

/** The runs above this one, the first of all first; where one is not in the list, from there on. */
export function ancestorsOf(parent: string, lines: readonly RunLine[]): RunLine[] {
  const line = parent === '' ? undefined : lines.find((known) => known.run === parent);
  return line ? [...ancestorsOf(line.parent ?? '', lines), line] : [];
}

/**
 * Which row began which runs. A row names the last of those that it began; the others began at the
 * same time, so after that row and before the next one that delegates.
 */
export function delegatedBy(rows: readonly Row[], children: readonly RunLine[]): Map<string, RunLine[]> {
  const begun = new Map<string, RunLine[]>();
  if (children.length === 0) return begun;
  const delegating = rows.filter((row) => row.content.kind === 'action' && row.content.child !== '');
  for (const child of children) {
    const named = delegating.find((row) => row.content.kind === 'action' && row.content.child === child.run);
    const row = named ?? delegating.findLast((before) => before.at <= child.created_at);
    if (!row) continue;
    const known = begun.get(row.key);
    if (known) known.push(child);
    else begun.set(row.key, [child]);
  }
  return begun;
}

const ENDED = new Set<RunState>(['accepted', 'unverified', 'failed', 'cancelled', 'unreadable', 'handed_off']);

/** Whether a run that was delegated to has come back to its parent. */
export function cameBack(state: RunState): boolean {
  return ENDED.has(state);
}
