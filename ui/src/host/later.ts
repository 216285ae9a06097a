import type { RunLine, RunState } from './bindings';

/** What the backend answers with for what it does not offer everywhere yet; see {@link ReplayHost}. */

export type ForkRequest = { run: string; seq: number | null; model: string | null; agent: string | null; instructions: string | null; rules: string[]; set: { key: string; value: string }[]; results: { action: string; text: string }[] };
export type Comparison = { left: RunLine; right: RunLine; shared: number; diverges: { step: number; left: number | null; right: number | null; words: string } | null; steps: ComparedStep[]; next: number | null };
export type ComparedStep = { step: number; same: boolean; rows: ComparedRows[] };
export type ComparedRows = { left: ComparedRow | null; right: ComparedRow | null; same: boolean };
export type ComparedRow = { row: string; seq: number; title: string; words: string };
export type Search = { words: string; states?: RunState[]; agent?: string; run?: string; after?: string };
export type SearchPage = { hits: SearchHit[]; next: string };
export type SearchHit = { run: RunLine; seq: number; at: number; kind: string; row: string; text: string; marks: { from: number; to: number }[] };
export type DeletedRuns = { runs: string[]; contents: number; freed: Freed | null };
export type Freed = { files: number; bytes: number };
export type Storage = { log: number; files: number; workspaces: number; indexes: number; total: number; runs: { run: string; title: string; log: number; workspace: number }[]; more: number };
