/* The bridge to the backend: commands, events and types, in the shape that tauri-specta writes.
 * Only `tauri.ts` uses the commands; everything else imports types. */

import { invoke as __TAURI_INVOKE, type Channel } from '@tauri-apps/api/core';
import * as __TAURI_EVENT from '@tauri-apps/api/event';

/** Commands */
export const commands = {
  listRuns: () => typedError<RunLine[], BridgeError>(__TAURI_INVOKE('list_runs')),
  watchRuns: (channel: Channel<RunLine[]>) => typedError<number, BridgeError>(__TAURI_INVOKE('watch_runs', { channel })),
  listAgents: () => typedError<AgentLine[], BridgeError>(__TAURI_INVOKE('list_agents')),
  listModels: () => typedError<ModelLine[], BridgeError>(__TAURI_INVOKE('list_models')),
  startRun: (request: StartRequest) => typedError<string, BridgeError>(__TAURI_INVOKE('start_run', { request })),
  startDemo: () => typedError<string, BridgeError>(__TAURI_INVOKE('start_demo')),
  subscribeRun: (run: string, channel: Channel<ViewUpdate>) => typedError<number, BridgeError>(__TAURI_INVOKE('subscribe_run', { run, channel })),
  unsubscribe: (subscription: number) => typedError<null, BridgeError>(__TAURI_INVOKE('unsubscribe', { subscription })),
  cancelRun: (run: string) => typedError<null, BridgeError>(__TAURI_INVOKE('cancel_run', { run })),
  pauseRun: (run: string) => typedError<null, BridgeError>(__TAURI_INVOKE('pause_run', { run })),
  resumeRun: (run: string) => typedError<null, BridgeError>(__TAURI_INVOKE('resume_run', { run })),
  sayToRun: (run: string, text: string) => typedError<null, BridgeError>(__TAURI_INVOKE('say_to_run', { run, text })),
  approveAction: (run: string, action: string, seenArguments: string) => typedError<null, BridgeError>(__TAURI_INVOKE('approve_action', { run, action, seenArguments })),
  denyAction: (run: string, action: string, reason: string) => typedError<null, BridgeError>(__TAURI_INVOKE('deny_action', { run, action, reason })),
  earlierRows: (run: string, beforeSeq: number) => typedError<Row[], BridgeError>(__TAURI_INVOKE('earlier_rows', { run, beforeSeq })),
  runFiles: (run: string) => typedError<FileLine[], BridgeError>(__TAURI_INVOKE('run_files', { run })),
  artifactUrl: (run: string, path: string) => typedError<string, BridgeError>(__TAURI_INVOKE('artifact_url', { run, path })),
  openWorkspace: (run: string) => typedError<null, BridgeError>(__TAURI_INVOKE('open_workspace', { run })),
  saveArtifact: (run: string, path: string) => typedError<string | null, BridgeError>(__TAURI_INVOKE('save_artifact', { run, path })),
  getSettings: () => typedError<Settings, BridgeError>(__TAURI_INVOKE('get_settings')),
  setTheme: (theme: Theme) => typedError<Settings, BridgeError>(__TAURI_INVOKE('set_theme', { theme })),
  saveProvider: (provider: ProviderRequest) => typedError<Settings, BridgeError>(__TAURI_INVOKE('save_provider', { provider })),
  removeProvider: (name: string) => typedError<Settings, BridgeError>(__TAURI_INVOKE('remove_provider', { name })),
  testProvider: (name: string) => typedError<string[], BridgeError>(__TAURI_INVOKE('test_provider', { name })),
  quit: (how: QuitChoice) => typedError<null, BridgeError>(__TAURI_INVOKE('quit', { how })),
  windowReady: () => typedError<null, BridgeError>(__TAURI_INVOKE('window_ready')),
};

/** Events */
export const events = {
  quitAsked: makeEvent<QuitAsked>('quit-asked'),
  openRun: makeEvent<OpenRun>('open-run'),
};

/* Types */

/** One action as a card. */
export type ActionRow = {
  action: string;
  tool: string;
  brief: string;
  arguments: string;
  effect: Effect;
  state: ActionState;
  decision: string;
  result: string;
  outcome: string;
  error: ToolErrorClass | null;
  trust: Trust;
  sources: string[];
  latency_ms: number | null;
  attempt: number;
};

/** The state of an action, in the words that the person reads. */
export type ActionState = 'proposed' | 'rejected' | 'asked' | 'allowed' | 'denied' | 'started' | 'succeeded' | 'failed' | 'uncertain';

/** An agent that can be picked. */
export type AgentLine = { name: string; description: string; model: string; origin: AgentOrigin; problems: Problem[] };

export type AgentOrigin = 'shipped' | 'saved';

/** A delivered file in the panel. */
export type ArtifactLine = { path: string; title: string; media_type: string; bytes: number; ledger: Claim[] };

/** What a command answers when it can't do what was asked. */
export type BridgeError = { code: ErrorCode; message: string; remedy: string };

/** One line of an evidence ledger. */
export type Claim = { sentence: string; source: string; quote?: string | null; found?: TextRange | null; state: ClaimState; difference?: string | null };

/** The state of one cited claim. */
export type ClaimState = 'verbatim' | 'near' | 'not_found' | 'cited' | 'source_not_read' | 'uncited';

/** A part of the request, for the context meter. */
export type ContextPart = { section: string; tokens: number };

/** The result of one criterion. */
export type CriterionResult = { criterion: string; holds: boolean; evidence: string; difference?: string[] };

/** What an action may do to the world. */
export type Effect = 'read' | 'workspace' | 'reversible' | 'irreversible';

export type ErrorCode = 'usage' | 'not_found' | 'busy' | 'io' | 'refused' | 'unreadable';

/** A file of the workspace. */
export type FileLine = { path: string; bytes: number; media_type: string; artifact: boolean };

/** A knot on the rein. */
export type Knot = { shape: KnotShape; tone: KnotTone; label: string; detail: string };

/** The shape of a knot. */
export type KnotShape = 'person' | 'ring' | 'square' | 'splice' | 'break' | 'end' | 'stop';

/** How a knot is coloured. */
export type KnotTone = 'plain' | 'running' | 'waiting' | 'good' | 'bad';

/** Something that is counted against a limit. */
export type Meter = { used: number; limit: number | null };

/** A model that can be picked. */
export type ModelLine = { id: string; demo: boolean; note: string };

export type OpenRun = { run: string };

/** The receipt of reading a PDF: pages are counted from 1. */
export type PdfReceipt = { pages: number; read: number; failed?: number[]; empty?: number[]; bibliography?: number[]; cut: boolean };

/** One item of the plan. */
export type PlanItem = { text: string; state: PlanState; evidence?: string | null };

/** The state of a plan's item. */
export type PlanState = 'open' | 'doing' | 'done' | 'dropped';

/** A mistake in a file that a person wrote. */
export type Problem = { place: string; message: string; remedy: string };

/** A model provider of this machine. */
export type ProviderLine = { name: string; format: ProviderFormat; base_url: string; key: ProviderKey; models: string[] };

export type ProviderFormat = 'openai-chat';

export type ProviderKey = 'none' | 'environment';

export type ProviderRequest = { name: string; base_url: string; format: ProviderFormat };

export type QuitAsked = { running: RunLine[] };

export type QuitChoice = 'finish' | 'pause' | 'stop';

/** One row of the conversation; the same rows carry the knots of the rein. */
export type Row = { key: string; seq: number; at: number; step: number; content: RowContent; knot: Knot | null };

/** What one row shows. */
export type RowContent =
  | { kind: 'question'; text: string }
  | { kind: 'answer'; text: string; thinking: string }
  | ({ kind: 'action' } & ActionRow)
  | { kind: 'notice'; text: string }
  | { kind: 'verification'; results: CriterionResult[]; accepted: boolean }
  | { kind: 'splice'; text: string }
  | { kind: 'compacted'; text: string }
  | { kind: 'model_trouble'; text: string; retrying: boolean }
  | { kind: 'stop'; state: RunState; text: string; remedy: string };

/** The panel of one run. */
export type RunHead = {
  run: string;
  title: string;
  agent: string;
  model: string;
  demo: boolean;
  state: RunState;
  reason: string;
  remedy: string;
  since: number;
  created_at: number;
  steps: Meter;
  tokens_in: Meter;
  tokens_out: Meter;
  working_seconds: Meter;
  actions: Meter;
  plan: PlanItem[];
  context: ContextPart[];
  window_tokens: number;
  sources: SourceLine[];
  artifacts: ArtifactLine[];
  done_when: CriterionResult[];
  verified: boolean;
  tainted: boolean;
};

/** A run in the list. */
export type RunLine = {
  run: string;
  title: string;
  agent: string;
  model: string;
  demo: boolean;
  state: RunState;
  reason: string;
  since: number;
  created_at: number;
  updated_at: number;
  steps: number;
  tokens_in: number;
  tokens_out: number;
  working_ms: number;
  seq: number;
  rein: KnotShape[];
};

/** What a run is doing, in the words that the person reads. */
export type RunState =
  | 'running'
  | 'waiting'
  | 'paused'
  | 'handed_off'
  | 'accepted'
  | 'unverified'
  | 'failed'
  | 'cancelled'
  | 'interrupted'
  | 'unreadable';

/** Everything that is shown of one run at one point of its log. */
export type RunView = { seq: number; head: RunHead; rows: Row[]; earlier: number };

export type Settings = { theme: Theme; providers: ProviderLine[]; data_dir: string; version: string };

/** A source in the panel. */
export type SourceLine = { id: string; meta: SourceMeta; passages: number };

/** What is known of a document besides its words. */
export type SourceMeta = {
  title: string;
  authors?: string[];
  date?: string | null;
  url?: string | null;
  file?: string | null;
  media_type: string;
  private: boolean;
  pdf?: PdfReceipt | null;
};

export type StartRequest = { agent: string; question: string; model: string | null };

/** A range of a source's extracted text, in bytes on character boundaries. */
export type TextRange = { start: number; end: number; page?: number | null };

export type Theme = 'system' | 'light' | 'dark';

/** Why an action failed, in a form that a model can act on. */
export type ToolErrorClass = 'invalid_arguments' | 'not_permitted' | 'not_found' | 'conflict' | 'temporary' | 'failed' | 'cancelled';

/** Whether a piece of context may be believed. */
export type Trust = 'trusted' | 'untrusted';

/** What changed since a sequence number. */
export type ViewChange = { seq: number; head: RunHead | null; rows: Row[] };

/** What a subscription of the window receives. */
export type ViewUpdate =
  | { kind: 'snapshot'; view: RunView }
  | { kind: 'change'; change: ViewChange }
  | { kind: 'provisional'; text: string; thinking: string }
  | { kind: 'problem'; message: string };

/* Tauri Specta runtime */
async function typedError<T, E>(result: Promise<T>): Promise<{ status: 'ok'; data: T } | { status: 'error'; error: E }> {
  try {
    return { status: 'ok', data: await result };
  } catch (e) {
    if (e instanceof Error) throw e;
    return { status: 'error', error: e as E };
  }
}

function makeEvent<T>(name: string) {
  return {
    listen: (cb: __TAURI_EVENT.EventCallback<T>) => __TAURI_EVENT.listen(name, cb),
    once: (cb: __TAURI_EVENT.EventCallback<T>) => __TAURI_EVENT.once(name, cb),
  };
}
