import type { ActionRow, Approval, ForkRequest, KeyList, KeySaved, Limits, PlaceChosen, PlaceRequest, ProviderRequest, QuitChoice, Replied, Row, RuleLine, RunLine, SaidLine, Search, ServerList, ServerQuestionState, ServerRequest, Settings, SignInPage, SkillList, SkillOffered, Standing, StartRequest, Surface, Theme, ToldReview, Verdict, ViewUpdate } from './bindings';
import { beginWith, checkKey, choose, listOf, openWith } from './fake/keys';
import { SIGN_IN_PAGE } from './fake/servers';
import { emptyScene, SCENES, type Scene } from './fake/scenes';
import { finished, PATH, WHOLE_ARGUMENTS } from './fake/research';
import { reviewOf } from './fake/skills';
import { compare, find } from './fake/found';
import { Past } from './fake/replay';
import { NOW, Story } from './fake/story';
import { HostError, type Host, type Stop } from './host';

/** What tests may do to the fake world, as `window.fake`. */
export interface FakeControls {
  /** Every call with its arguments, in order. */
  calls: [string, ...unknown[]][];
  /** Lets the next beat of a run through; `false` when it has none left. */
  pass(run: string): boolean;
  /** How often the gate of a run can still be opened. */
  beats(run: string): number;
  /** Sends any update to the subscribers of a run. */
  send(run: string, updates: ViewUpdate[]): void;
  askToQuit(): void;
  openRun(run: string): void;
  answerElsewhere(run: string, action: string, words: string, from: Surface): void;
  /** Ends the test of a server, or its sign-in. */
  serverAnswers(name: string): void;
  /** Something is dropped on the window. */
  drop(offered: Partial<SkillOffered>): void;
  hover(over: boolean): void;
}

/** What an answer changes on the card of an action. */
type ActionChange = Partial<ActionRow>;

/** The backend checks an edit against the tool's schema; here it has to be an object with a text. */
function checkEdit(edit: string): void {
  let value: unknown;
  try {
    value = JSON.parse(edit);
  } catch (thrown) {
    throw new HostError('usage', `The arguments are not valid JSON: ${String(thrown)}`, 'Mend the arguments, then approve.');
  }
  if (typeof value !== 'object' || value === null || !('text' in value)) throw new HostError('usage', 'The arguments do not fit: "text" is a required property', 'Mend the arguments, then approve.');
}

/** How many rows `earlierRows` gives at once. */
const PAGE = 500;

/** A world without a backend: a scene, and a gate that tests open. Nothing moves by itself. */
export class FakeHost implements Host, FakeControls {
  readonly calls: [string, ...unknown[]][] = [];
  readonly stories = new Map<string, Story>();
  private readonly listeners = new Map<string, Set<(update: ViewUpdate) => void>>();
  private readonly watchers = new Set<(lines: RunLine[]) => void>();
  private quitListener: ((running: RunLine[]) => void) | null = null;
  private runListener: ((run: string) => void) | null = null;
  private skillListener: ((offered: SkillOffered) => void) | null = null;
  private hoverListener: ((over: boolean) => void) | null = null;
  private settings: Settings;
  private started = 0;

  constructor(private readonly scene: Scene) {
    this.settings = scene.settings;
    for (const story of scene.stories) this.stories.set(story.head.run, story);
  }

  now = () => NOW;

  /** Notes a call; refuses it or never answers it when the scene says so. */
  private async called<T>(name: string, args: unknown[], answer: () => T): Promise<T> {
    this.calls.push([name, ...args]);
    const refusal = this.scene.refusals.get(name);
    if (refusal) throw refusal;
    if (this.scene.silent.has(name)) return new Promise<never>(() => undefined);
    return answer();
  }

  private lines(): RunLine[] {
    return [...[...this.stories.values()].map((story) => story.line()), ...this.scene.lines];
  }

  watchRuns(onRuns: (lines: RunLine[]) => void): Promise<Stop> {
    return this.called('watchRuns', [], () => {
      this.watchers.add(onRuns);
      onRuns(this.lines());
      return () => void this.watchers.delete(onRuns);
    });
  }

  subscribeRun(run: string, onUpdate: (update: ViewUpdate) => void): Promise<Stop> {
    return this.called('subscribeRun', [run], () => {
      const story = this.story(run);
      const listeners = this.listeners.get(run) ?? new Set();
      this.listeners.set(run, listeners.add(onUpdate));
      const view = story.view();
      const held = this.scene.held.get(run) ?? 0;
      onUpdate({ kind: 'snapshot', view: { ...view, rows: view.rows.slice(held), earlier: held } });
      return () => void listeners.delete(onUpdate);
    });
  }

  earlierRows(run: string, beforeSeq: number): Promise<Row[]> {
    return this.called('earlierRows', [run, beforeSeq], () => {
      const rows = this.story(run).rows.filter((row) => row.seq < beforeSeq);
      return rows.slice(-PAGE);
    });
  }

  private story(run: string): Story {
    const story = this.stories.get(run);
    if (!story) throw new HostError('not_found', `There is no run ${run} in this data folder.`, 'Look for it in the list of runs.');
    return story;
  }

  private past<T>(run: string, answer: (past: Past) => T): T {
    return answer(new Past(this.story(run)));
  }

  runScrubber = (run: string) => this.called('runScrubber', [run], () => this.past(run, (past) => past.scrubber()));
  runPoints = (run: string, from: number) => this.called('runPoints', [run, from], () => this.past(run, (past) => past.points(from)));
  runAt = (run: string, seq: number | null) => this.called('runAt', [run, seq], () => this.past(run, (past) => past.view(seq)));
  rowsAt = (run: string, seq: number | null, before: number) => this.called('rowsAt', [run, seq, before], () => this.past(run, (past) => past.rows(seq, before)));
  requestAt = (run: string, seq: number | null) => this.called('requestAt', [run, seq], () => this.past(run, (past) => past.request(seq)));
  requestBytesAt = (run: string, seq: number | null, offset: number) => this.called('requestBytesAt', [run, seq, offset], () => this.past(run, (past) => past.requestBytes(seq, offset)));
  requestBlockAt = (run: string, seq: number | null, place: number, exact: boolean, offset: number) => this.called('requestBlockAt', [run, seq, place, exact, offset], () => this.past(run, (past) => past.block(seq, place, exact, offset)));
  actionAt = (run: string, action: string, seq: number | null) => this.called('actionAt', [run, action, seq], () => this.past(run, (past) => past.action(action, seq)));
  actionResultAt = (run: string, action: string, seq: number | null, offset: number) => this.called('actionResultAt', [run, action, seq, offset], () => this.past(run, (past) => past.result(action, seq, offset)));
  actionArgumentsAt = (run: string, action: string, seq: number | null, offset: number) => this.called('actionArgumentsAt', [run, action, seq, offset], () => this.past(run, (past) => past.arguments(action, seq, offset)));
  filesAt = (run: string, seq: number | null) => this.called('filesAt', [run, seq], () => this.past(run, (past) => past.files(seq)));
  filesBetween = (run: string, from: number, to: number) => this.called('filesBetween', [run, from, to], () => this.past(run, (past) => past.between(from, to)));
  fileTextAt = (run: string, seq: number | null, path: string, offset: number) => this.called('fileTextAt', [run, seq, path, offset], () => this.past(run, (past) => past.fileText(seq, path, offset)));
  deleteRun = (run: string) =>
    this.called('deleteRun', [run], () => {
      const runs = [run, ...this.lines().flatMap((line) => (line.parent === run ? [line.run] : []))];
      for (const gone of runs) this.stories.delete(gone);
      this.scene.lines = this.scene.lines.filter((line) => !runs.includes(line.run));
      return { runs, contents: 12, freed: { files: 9, bytes: 1_240_000 } };
    });
  storageUsed = () =>
    this.called('storageUsed', [], () => {
      const runs = this.lines().map((line, place) => ({ run: line.run, title: line.title, log: 1_840_000 - place * 120_000, workspace: place === 0 ? 96_400_000 : 210_000 }));
      return { log: 18_400_000, files: 61_200_000, workspaces: 98_100_000, indexes: 7_300_000, total: 185_000_000, runs: runs.slice(0, 200), more: Math.max(0, runs.length - 200) };
    });
  freeStorage = () => this.called('freeStorage', [], () => ({ files: 41, bytes: 3_200_000 }));
  searchRuns = (search: Search) => this.called('searchRuns', [search], () => find([...this.stories.values()], search));
  compareRuns = (left: string, right: string, fromStep: number) => this.called('compareRuns', [left, right, fromStep], () => compare(this.story(left), this.story(right), fromStep, this.scene.shared));
  forkRun = (request: ForkRequest) =>
    this.called('forkRun', [request], () => {
      const of = this.story(request.run);
      const at = request.seq ?? of.view().seq;
      this.started += 1;
      const run = `01JF${this.started}`;
      const fork = new Story(run, of.head.title, { model: request.model ?? of.head.model }).forkOf(of, at);
      Object.assign(fork.head, of.headAt(at), { run, title: of.head.title, model: request.model ?? of.head.model, state: 'paused', reason: `Forked from event ${at}.`, remedy: 'Say what to do otherwise, or resume it.' });
      this.stories.set(run, fork);
      this.tellList([fork.line()]);
      return run;
    });

  listAgents = () => this.called('listAgents', [], () => this.scene.agents);
  listModels = () => this.called('listModels', [], () => this.scene.models);

  startRun(request: StartRequest): Promise<string> {
    return this.called('startRun', [request], () => this.begin(request.question, false));
  }

  startDemo(): Promise<string> {
    return this.called('startDemo', [], () => this.begin('What does the library say about vector search?', true));
  }

  private begin(question: string, demo: boolean): string {
    this.started += 1;
    const run = `01JF${this.started}`;
    const story = new Story(run, question, { minutesAgo: 0, demo }).question(question);
    this.stories.set(run, story);
    const told = finished(run);
    this.scene.beats.set(run, [
      [{ kind: 'provisional', text: 'I’ll look at what the library says', thinking: '' }],
      [{ kind: 'change', change: { seq: 20, head: null, rows: told.rows.slice(1, 6) } }],
      [{ kind: 'change', change: { seq: told.view().seq, head: { ...told.view().head, title: question, demo, model: story.head.model }, rows: told.rows.slice(6) } }],
    ]);
    this.tellList([story.line()]);
    return run;
  }

  cancelRun = (run: string) => this.called('cancelRun', [run], () => this.settle(run, (story) => story.stop('cancelled', 'Cancelled by you.')));
  pauseRun = (run: string) => this.called('pauseRun', [run], () => this.settle(run, (story) => story.stop('paused', 'Paused by you.', 'Resume it when you like.')));
  resumeRun = (run: string) => this.called('resumeRun', [run], () => this.settle(run, (story) => story.state('running', '', '', 0)));
  sayToRun = (run: string, text: string) => this.called('sayToRun', [run, text], () => this.settle(run, (story) => story.question(text, 'Steered')));

  approveAction(run: string, action: string, approval: Approval): Promise<void> {
    return this.called('approveAction', [run, action, approval], () => {
      if (approval.edit !== null) checkEdit(approval.edit);
      const words = approval.edit === null ? 'approved' : 'approved with other arguments';
      this.answer(run, action, { state: 'succeeded', outcome: 'posted', latency_ms: 320 }, words);
    });
  }

  denyAction(run: string, action: string, reason: string): Promise<void> {
    return this.called('denyAction', [run, action, reason], () => this.answer(run, action, { state: 'denied', outcome: reason }, 'refused', reason));
  }

  askedArguments(run: string, action: string, seen: string): Promise<string> {
    return this.called('askedArguments', [run, action, seen], () => WHOLE_ARGUMENTS);
  }

  answerQuestion(run: string, action: string, text: string): Promise<void> {
    return this.called('answerQuestion', [run, action, text], () => this.answer(run, action, { state: 'succeeded', outcome: text }, 'answered'));
  }

  answerServer(run: string, action: string, number: number, reply: Replied, values: string): Promise<void> {
    const words: Record<Replied, string> = { given: 'answered', declined: 'declined', dismissed: 'gave no answer' };
    const states: Record<Replied, ServerQuestionState> = { given: 'answered', declined: 'declined', dismissed: 'dismissed' };
    return this.called('answerServer', [run, action, number, reply, values], () => {
      const row = this.story(run).rows.find((row) => row.content.kind === 'action' && row.content.action === action);
      if (row?.content.kind !== 'action') return;
      const questions = row.content.server_questions.map((line) => (line.number === number ? { ...line, state: states[reply], answer: values } : line));
      const asksOn = questions.some((line) => line.state === 'open');
      const said = [...row.content.said, { words: `${words[reply]} the server`, note: '', from: 'window' as const, at: NOW }];
      this.answer(run, action, { state: asksOn ? 'asks_you' : 'started', question: asksOn ? row.content.question : null, server_questions: questions, said }, words[reply]);
      if (asksOn) this.settle(run, (story) => story.state('waiting', 'The server cluster asks you.', 'Answer it.'));
    });
  }

  openAskedPage(run: string, action: string, number: number): Promise<void> {
    return this.called('openAskedPage', [run, action, number], () => undefined);
  }

  settleAction(run: string, action: string, verdict: Verdict, result: string | null): Promise<void> {
    const words: Record<Verdict, string> = { happened: 'you said that it happened', not_happened: 'you said that it did not happen', retry: 'you said to start it again' };
    return this.called('settleAction', [run, action, verdict, result], () => this.answer(run, action, { state: verdict === 'happened' ? 'succeeded' : verdict === 'retry' ? 'allowed' : 'failed', outcome: words[verdict], result: result ?? '' }, words[verdict]));
  }

  acceptResult(run: string, accepted: boolean, note: string): Promise<void> {
    return this.called('acceptResult', [run, accepted, note], () =>
      this.settle(run, (story) => {
        const said: SaidLine = { words: accepted ? 'accepted' : 'sent back', note, from: 'window', at: NOW };
        const place = story.rows.findIndex((row) => row.content.kind === 'acceptance');
        const row = story.rows[place];
        if (row?.content.kind === 'acceptance') story.rows[place] = { ...row, content: { ...row.content, state: accepted ? 'accepted' : 'refused', said }, knot: row.knot && { ...row.knot, shape: 'ring', tone: accepted ? 'good' : 'plain', detail: said.words } };
        story.head.acceptance = null;
        if (!accepted) return story.state('running', '', '', 0);
        return row ? story.stop('accepted', 'Every criterion holds.') : story.stop('unverified', 'Taken as it is, in the window.');
      }),
    );
  }

  raiseLimits(run: string, limits: Limits): Promise<void> {
    return this.called('raiseLimits', [run, limits], () =>
      this.settle(run, (story) => {
        if (limits.steps) story.head.steps.limit = limits.steps;
        if (limits.money_micro) story.head.money.limit_micro = limits.money_micro;
        Object.assign(story.head, { reached: null, warned: [], digest: null });
        return story.budget('New limits, set from the window.', true).state('running', '', '', 0);
      }),
    );
  }

  undoAction(run: string, action: string): Promise<void> {
    return this.called('undoAction', [run, action], () => this.change(run, action, { undo: false, undone: true }));
  }

  /** Somebody answers an action from another surface. */
  answerElsewhere(run: string, action: string, words: string, from: Surface): void {
    this.answer(run, action, { state: words === 'refused' ? 'denied' : 'succeeded', outcome: '' }, words, '', from);
  }

  private answer(run: string, action: string, parts: ActionChange, words: string, note = '', from: Surface = 'window'): void {
    const said: SaidLine = { words, note, from, at: NOW };
    this.change(run, action, { latency_ms: null, seen: '', offers: [], said: [said], ...parts });
    this.settle(run, (story) => story.state('running', '', '', 0));
  }

  private change(run: string, action: string, parts: ActionChange): void {
    this.settle(run, (story) => {
      const place = story.rows.findIndex((row) => row.content.kind === 'action' && row.content.action === action);
      const row = story.rows[place];
      if (row?.content.kind !== 'action') return;
      const detail = parts.said?.[0]?.words ?? row.knot?.detail ?? '';
      story.rows[place] = { ...row, content: { ...row.content, ...parts }, knot: row.knot && { ...row.knot, shape: 'ring', tone: 'plain', detail } };
    });
  }

  /** Changes a story and tells what changed, as the backend would. */
  private settle(run: string, change: (story: Story) => unknown): void {
    const story = this.story(run);
    const before = new Map(story.rows.map((row) => [row.key, row]));
    change(story);
    const rows = story.rows.filter((row) => before.get(row.key) !== row);
    this.send(run, [{ kind: 'change', change: { seq: story.view().seq, head: story.view().head, rows } }]);
    this.tellList([story.line()]);
  }

  private tellList(lines: RunLine[]): void {
    for (const watcher of this.watchers) watcher(lines);
  }

  send(run: string, updates: ViewUpdate[]): void {
    for (const listener of this.listeners.get(run) ?? []) for (const update of updates) listener(update);
  }

  pass(run: string): boolean {
    const beat = this.scene.beats.get(run)?.shift();
    if (!beat) return false;
    const story = this.story(run);
    for (const update of beat) {
      if (update.kind !== 'change') continue;
      for (const row of update.change.rows) {
        const place = story.rows.findIndex((known) => known.key === row.key);
        if (place < 0) story.rows.push(row);
        else story.rows[place] = row;
      }
      if (update.change.head) Object.assign(story.head, update.change.head);
    }
    this.send(run, beat);
    this.tellList([story.line()]);
    return true;
  }

  beats = (run: string) => this.scene.beats.get(run)?.length ?? 0;

  runFiles = (run: string) => this.called('runFiles', [run], () => (this.story(run).head.artifacts.length > 0 || this.story(run).head.actions.used > 4 ? this.scene.files : []));
  artifactUrl = (run: string, path: string) => this.called('artifactUrl', [run, path], () => `artifact.html?${encodeURIComponent(path)}`);
  openWorkspace = (run: string) => this.called('openWorkspace', [run], () => undefined);
  saveArtifact = (run: string, path: string) => this.called('saveArtifact', [run, path], () => `~/Documents/${path || PATH}`);

  getSettings = () => this.called('getSettings', [], () => this.settings);
  setTheme = (theme: Theme) => this.called('setTheme', [theme], () => (this.settings = { ...this.settings, theme }));

  saveProvider(provider: ProviderRequest): Promise<Settings> {
    return this.called('saveProvider', [provider], () => {
      if (!/^[a-z][a-z0-9-]*$/.test(provider.name)) {
        throw new HostError('usage', `${provider.name} can’t be the name of a provider.`, 'Use lower-case letters, digits and hyphens.');
      }
      this.settings = { ...this.settings, providers: [...this.settings.providers.filter((known) => known.name !== provider.name), provider] };
      return this.settings;
    });
  }

  removeProvider(name: string): Promise<Settings> {
    return this.called('removeProvider', [name], () => (this.settings = { ...this.settings, providers: this.settings.providers.filter((known) => known.name !== name) }));
  }

  testProvider = (name: string) => this.called('testProvider', [name], () => ['qwen3-32b', 'qwen3-4b', 'nomic-embed']);

  listKeys = () => this.called('listKeys', [], () => this.keys());
  setKey(name: string, key: string): Promise<KeySaved> {
    return this.called('setKey', [name, key], () => {
      const notes = checkKey(name, key);
      this.scene.keys.kept[name] = key.trim().slice(-4);
      return { list: this.keys(), notes };
    });
  }
  removeKey = (name: string) =>
    this.called('removeKey', [name], () => {
      delete this.scene.keys.kept[name];
      return this.keys();
    });
  chooseKeyPlace = (wanted: PlaceRequest): Promise<PlaceChosen> =>
    this.called('chooseKeyPlace', [wanted], () => {
      const moved = choose(this.scene.keys, wanted);
      return { list: this.keys(), moved: { moved, left_behind: [] } };
    });
  unlockKeys = (passphrase: string | null) =>
    this.called('unlockKeys', [passphrase], () => {
      if (passphrase !== null) openWith(this.scene.keys, passphrase);
      return this.standing('ready');
    });
  beginKeys = (passphrase: string) =>
    this.called('beginKeys', [passphrase], () => {
      beginWith(this.scene.keys, passphrase);
      return this.standing('ready');
    });
  changePassphrase = (old: string, passphrase: string) =>
    this.called('changePassphrase', [old, passphrase], () => {
      openWith(this.scene.keys, old);
      beginWith(this.scene.keys, passphrase);
      return this.keys();
    });
  lockKeys = () => this.called('lockKeys', [], () => this.standing('locked'));

  private standing(standing: Standing): KeyList {
    this.scene.keys.place = { ...this.scene.keys.place, standing, file_exists: true };
    return this.keys();
  }

  private keys(): KeyList {
    return listOf(this.scene.keys, this.settings.providers);
  }

  listServers = () => this.called('listServers', [], () => this.scene.servers.list());
  saveServer = (server: ServerRequest) => this.called('saveServer', [server], () => this.scene.servers.save(server));
  removeServer = (name: string) => this.called('removeServer', [name], () => this.scene.servers.remove(name));
  async testServer(name: string): Promise<ServerList> {
    await this.called('testServer', [name], () => this.scene.servers.begin(name));
    return this.scene.servers.tested(name);
  }
  stopServer = (name: string) => this.called('stopServer', [name], () => this.scene.servers.stop(name));
  approveServer = (name: string, seen: string) => this.called('approveServer', [name, seen], () => this.scene.servers.approve(name, seen));
  async signInToServer(name: string, onPage: (page: SignInPage) => void): Promise<ServerList> {
    await this.called('signInToServer', [name], () => onPage({ host: 'github.com', url: SIGN_IN_PAGE }));
    return this.scene.servers.signedIn(name);
  }
  signOutOfServer = (name: string) => this.called('signOutOfServer', [name], () => this.scene.servers.signOut(name));
  /** The person comes back from the browser, or a test ends. */
  serverAnswers = (name: string) => this.scene.servers.answer(name);
  listSkills = () => this.called('listSkills', [], () => this.scene.skills);
  reviewSkill = (folder: string): Promise<ToldReview> =>
    this.called('reviewSkill', [folder], () => {
      const line = this.scene.skills.skills.find((known) => known.folder === folder);
      return reviewOf(line?.name ?? folder, line?.state === 'changed');
    });
  approveSkill = (folder: string, seen: string): Promise<SkillList> =>
    this.called('approveSkill', [folder, seen], () => {
      const skills = this.scene.skills.skills.map((line) => (line.folder === folder ? { ...line, state: 'approved' as const, state_words: 'approved', can_approve: false } : line));
      return (this.scene.skills = { ...this.scene.skills, skills });
    });
  installSkill = (offer: number, seen: string): Promise<SkillList> =>
    this.called('installSkill', [offer, seen], () => {
      const { name, description } = reviewOf('field-notes', false);
      const installed = { name, description, place: 'installed here', folder: `~/.local/share/longrein/skills/${name}`, state: 'approved' as const, state_words: 'approved', problems: [], can_remove: true, can_approve: false };
      const others = this.scene.skills.skills.filter((line) => line.folder !== installed.folder);
      return (this.scene.skills = { ...this.scene.skills, skills: [installed, ...others] });
    });
  declineSkill = (offer: number) => this.called('declineSkill', [offer], () => undefined);
  removeSkill = (name: string): Promise<SkillList> =>
    this.called('removeSkill', [name], () => (this.scene.skills = { ...this.scene.skills, skills: this.scene.skills.skills.filter((line) => line.name !== name || !line.can_remove) }));
  chooseSkill = (zip: boolean) => this.called('chooseSkill', [zip], () => undefined);

  listRules = () => this.called('listRules', [], () => this.scene.rules);
  revokeRule = (id: string): Promise<RuleLine[]> => this.called('revokeRule', [id], () => (this.scene.rules = this.scene.rules.filter((rule) => rule.id !== id)));

  openLink = (address: string) => this.called('openLink', [address], () => undefined);
  copyText = (text: string) => this.called('copyText', [text], () => undefined);

  onQuitAsked(listener: (running: RunLine[]) => void): Promise<Stop> {
    this.quitListener = listener;
    return Promise.resolve(() => (this.quitListener = null));
  }

  onOpenRun(listener: (run: string) => void): Promise<Stop> {
    this.runListener = listener;
    return Promise.resolve(() => (this.runListener = null));
  }

  onSkillOffered(listener: (offered: SkillOffered) => void): Promise<Stop> {
    this.skillListener = listener;
    return Promise.resolve(() => (this.skillListener = null));
  }

  onDropHovers(listener: (over: boolean) => void): Promise<Stop> {
    this.hoverListener = listener;
    return Promise.resolve(() => (this.hoverListener = null));
  }

  onSkillsChanged = (): Promise<Stop> => Promise.resolve(() => undefined);

  drop(offered: Partial<SkillOffered>): void {
    this.skillListener?.({ path: '~/Downloads/field-notes.zip', offer: 1, review: reviewOf('field-notes', false), refused: null, ...offered });
  }

  hover(over: boolean): void {
    this.hoverListener?.(over);
  }

  askToQuit(): void {
    this.quitListener?.(this.lines().filter((line) => line.state === 'running'));
  }

  openRun(run: string): void {
    this.runListener?.(run);
  }

  requestQuit = () => this.called('requestQuit', [], () => this.askToQuit());
  quit = (how: QuitChoice) => this.called('quit', [how], () => undefined);
  windowReady = () => this.called('windowReady', [], () => undefined);
}

/** A fake world by the `scene` of the address. */
export function connect(): Host {
  const name = new URLSearchParams(location.search).get('scene') ?? 'list';
  const host = new FakeHost((SCENES[name] ?? emptyScene)());
  Object.assign(globalThis, { fake: host });
  return host;
}
