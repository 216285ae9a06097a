import type {
  AgentLine,
  Approval,
  ErrorCode,
  FileLine,
  KeyList,
  KeySaved,
  Limits,
  ModelLine,
  PlaceChosen,
  PlaceRequest,
  ProviderRequest,
  QuitChoice,
  Replied,
  Row,
  RuleLine,
  RunLine,
  ServerList,
  ServerRequest,
  Settings,
  SignInPage,
  SkillList,
  SkillOffered,
  StartRequest,
  Theme,
  ToldReview,
  Verdict,
  ViewUpdate,
} from './bindings';
import type { ReplayHost } from './replay';

/** Ends what a call began: a subscription or a listener. */
export type Stop = () => void;

/**
 * All that the window may ask of the world. Two implementations stand behind it: the Tauri
 * backend, and the fake that tests and pictures use. Every call rejects with a {@link HostError}.
 */
export interface Host extends ReplayHost {
  /** The present, in milliseconds since the epoch. Only ages are drawn from it. */
  now(): number;

  /** Calls back with upserts by run, the first time with all runs, newest first. */
  watchRuns(onRuns: (lines: RunLine[]) => void): Promise<Stop>;
  /** Calls back with a snapshot first, then with every change in order. */
  subscribeRun(run: string, onUpdate: (update: ViewUpdate) => void): Promise<Stop>;
  /** The rows before a sequence number, oldest first; empty at the start of the run. */
  earlierRows(run: string, beforeSeq: number): Promise<Row[]>;

  listAgents(): Promise<AgentLine[]>;
  listModels(): Promise<ModelLine[]>;
  startRun(request: StartRequest): Promise<string>;
  startDemo(): Promise<string>;

  cancelRun(run: string): Promise<void>;
  pauseRun(run: string): Promise<void>;
  resumeRun(run: string): Promise<void>;
  sayToRun(run: string, text: string): Promise<void>;
  /** Says yes to what was on the screen, and to nothing else: see {@link Approval}. */
  approveAction(run: string, action: string, approval: Approval): Promise<void>;
  denyAction(run: string, action: string, reason: string): Promise<void>;
  /** All arguments of an action that is asked, where its row shows only their beginning. */
  askedArguments(run: string, action: string, seen: string): Promise<string>;
  answerQuestion(run: string, action: string, text: string): Promise<void>;
  /** Answers a server's question; `values` are those of its form, as JSON, and else empty. */
  answerServer(run: string, action: string, number: number, reply: Replied, values: string): Promise<void>;
  /** Opens the page that a server wants visited, in the person's own browser. */
  openAskedPage(run: string, action: string, number: number): Promise<void>;
  settleAction(run: string, action: string, verdict: Verdict, result: string | null): Promise<void>;
  acceptResult(run: string, accepted: boolean, note: string): Promise<void>;
  raiseLimits(run: string, limits: Limits): Promise<void>;
  undoAction(run: string, action: string): Promise<void>;

  runFiles(run: string): Promise<FileLine[]>;
  /** An address in the artifact scheme, for the sandboxed frame only. */
  artifactUrl(run: string, path: string): Promise<string>;
  openWorkspace(run: string): Promise<void>;
  /** Where it was saved; `null` when the person changed their mind. */
  saveArtifact(run: string, path: string): Promise<string | null>;

  getSettings(): Promise<Settings>;
  setTheme(theme: Theme): Promise<Settings>;
  saveProvider(provider: ProviderRequest): Promise<Settings>;
  removeProvider(name: string): Promise<Settings>;
  /** The names of the models that the provider lists. */
  testProvider(name: string): Promise<string[]>;

  /** Where each key comes from, and its last four characters. No key ever comes back. */
  listKeys(): Promise<KeyList>;
  setKey(name: string, key: string): Promise<KeySaved>;
  removeKey(name: string): Promise<KeyList>;
  chooseKeyPlace(place: PlaceRequest): Promise<PlaceChosen>;
  /** Opens the encrypted file, or without a passphrase lets the system unlock the keychain. */
  unlockKeys(passphrase: string | null): Promise<KeyList>;
  beginKeys(passphrase: string): Promise<KeyList>;
  changePassphrase(old: string, passphrase: string): Promise<KeyList>;
  lockKeys(): Promise<KeyList>;

  /** The MCP servers as they stand; nothing is started. */
  listServers(): Promise<ServerList>;
  saveServer(server: ServerRequest): Promise<ServerList>;
  removeServer(name: string): Promise<ServerList>;
  /** Starts or reaches a server. One that can't be looked at says why in its line. */
  testServer(name: string): Promise<ServerList>;
  /** Ends a test, or the wait for a sign-in. */
  stopServer(name: string): Promise<void>;
  /** Approves what the look named `seen` found, and nothing that the server says later. */
  approveServer(name: string, seen: string): Promise<ServerList>;
  /** Tells the page to sign in at, and resolves when the person is back from it. */
  signInToServer(name: string, onPage: (page: SignInPage) => void): Promise<ServerList>;
  signOutOfServer(name: string): Promise<ServerList>;

  /** The skills that count outside of any project. */
  listSkills(): Promise<SkillList>;
  reviewSkill(folder: string): Promise<ToldReview>;
  /** Says yes to what was seen, by its hash, and to nothing else. */
  approveSkill(folder: string, seen: string): Promise<SkillList>;
  installSkill(offer: number, seen: string): Promise<SkillList>;
  declineSkill(offer: number): Promise<void>;
  removeSkill(name: string): Promise<SkillList>;
  /** Lets the person choose a folder or a zip; it comes as an offer. */
  chooseSkill(zip: boolean): Promise<void>;

  /** The rules of every run and of single agents; those of one run end with it. */
  listRules(): Promise<RuleLine[]>;
  revokeRule(id: string): Promise<RuleLine[]>;

  /** Opens an address in the person's browser, never in this window. */
  openLink(address: string): Promise<void>;
  copyText(text: string): Promise<void>;

  onQuitAsked(listener: (running: RunLine[]) => void): Promise<Stop>;
  onOpenRun(listener: (run: string) => void): Promise<Stop>;
  /** A skill was dropped on the window or chosen: to be looked through, or why it is none. */
  onSkillOffered(listener: (offered: SkillOffered) => void): Promise<Stop>;
  onDropHovers(listener: (over: boolean) => void): Promise<Stop>;
  onSkillsChanged(listener: () => void): Promise<Stop>;
  /** Quits; asks first, by {@link onQuitAsked}, when something is at work. */
  requestQuit(): Promise<void>;
  quit(how: QuitChoice): Promise<void>;
  /** The first picture is drawn: the window may be shown. */
  windowReady(): Promise<void>;
}

/** A refusal of the backend, in words for the person. */
export class HostError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    /** What the person can do; may be empty. */
    readonly remedy: string,
  ) {
    super(message);
    this.name = 'HostError';
  }

  /** Anything that was thrown, as a {@link HostError}. */
  static from(thrown: unknown): HostError {
    if (thrown instanceof HostError) return thrown;
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return new HostError('io', message, '');
  }
}
