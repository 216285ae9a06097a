import type { ActionRecord, Comparison, DeletedRuns, FilesDifference, FilesThen, ForkRequest, Freed, Points, RequestRecord, Row, RunView, Scrubber, Search, SearchPage, Storage, TextPage } from './bindings';

/** Looking back: nothing of it acts. A `seq` names an event; `null` means the run as it stands. */
export interface ReplayHost {
  runScrubber(run: string): Promise<Scrubber>;
  /** Every event of a run as a point, a page of them from one on. */
  runPoints(run: string, fromSeq: number): Promise<Points>;
  runAt(run: string, seq: number | null): Promise<RunView>;
  rowsAt(run: string, seq: number | null, beforeSeq: number): Promise<Row[]>;
  requestAt(run: string, seq: number | null): Promise<RequestRecord>;
  requestBytesAt(run: string, seq: number | null, offset: number): Promise<TextPage>;
  requestBlockAt(run: string, seq: number | null, place: number, exact: boolean, offset: number): Promise<TextPage>;
  actionAt(run: string, action: string, seq: number | null): Promise<ActionRecord>;
  actionResultAt(run: string, action: string, seq: number | null, offset: number): Promise<TextPage>;
  actionArgumentsAt(run: string, action: string, seq: number | null, offset: number): Promise<TextPage>;
  filesAt(run: string, seq: number | null): Promise<FilesThen>;
  filesBetween(run: string, fromSeq: number, toSeq: number): Promise<FilesDifference>;
  /** Begins a fork and answers with its id. It stands still until it is resumed or spoken to. */
  forkRun(request: ForkRequest): Promise<string>;
  /** Two runs, aligned by step, a page of steps from one on. */
  compareRuns(left: string, right: string, fromStep: number): Promise<Comparison>;
  /** Everything that was said or found in any run, the newest first, by pages. */
  searchRuns(search: Search): Promise<SearchPage>;
  /** Deletes a run for good, with its helpers and its files. */
  deleteRun(run: string): Promise<DeletedRuns>;
  /** What takes space, in bytes. */
  storageUsed(): Promise<Storage>;
  /** Frees the contents of files that no run refers to. */
  freeStorage(): Promise<Freed>;
  fileTextAt(run: string, seq: number | null, path: string, offset: number): Promise<TextPage>;
}
