import type { RunLine } from '$host/bindings';
import { needsPerson } from '$shared/states';

/** What waits for the person over all runs: who has waited longest comes first. */
export function waitingLines(lines: readonly RunLine[]): RunLine[] {
  return lines.filter((line) => needsPerson(line.state)).sort((one, other) => one.since - other.since || one.run.localeCompare(other.run));
}

/** The line that is looked at: the one that was asked for while it waits, else the one that took its place. */
export function lookedAt(waiting: readonly RunLine[], asked: string | null, place: number): RunLine | null {
  return waiting.find((line) => line.run === asked) ?? waiting[Math.min(place, waiting.length - 1)] ?? null;
}
