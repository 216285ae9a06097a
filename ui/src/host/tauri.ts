import { Channel } from '@tauri-apps/api/core';
import { openUrl } from '@tauri-apps/plugin-opener';
import { commands, events, type BridgeError, type RunLine, type SignInPage, type ViewUpdate } from './bindings';
import { HostError, type Host, type Stop } from './host';

type Answer<T> = { status: 'ok'; data: T } | { status: 'error'; error: BridgeError };

/** The answer of a command, or its error thrown as a {@link HostError}. */
async function asked<T>(answer: Promise<Answer<T>>): Promise<T> {
  const settled = await answer.catch((thrown: unknown) => {
    throw HostError.from(thrown);
  });
  if (settled.status === 'ok') return settled.data;
  throw new HostError(settled.error.code, settled.error.message, settled.error.remedy);
}

async function done(answer: Promise<Answer<null>>): Promise<void> {
  await asked(answer);
}

function ender(subscription: number): Stop {
  return () => {
    // A subscription that the backend has already forgotten needs no ending.
    commands.unsubscribe(subscription).catch(() => undefined);
  };
}

const host: Host = {
  now: () => Date.now(),

  async watchRuns(onRuns) {
    const channel = new Channel<RunLine[]>();
    channel.onmessage = onRuns;
    return ender(await asked(commands.watchRuns(channel)));
  },
  async subscribeRun(run, onUpdate) {
    const channel = new Channel<ViewUpdate>();
    channel.onmessage = onUpdate;
    return ender(await asked(commands.subscribeRun(run, channel)));
  },
  earlierRows: (run, beforeSeq) => asked(commands.earlierRows(run, beforeSeq)),

  runScrubber: (run) => asked(commands.runScrubber(run)),
  runPoints: (run, fromSeq) => asked(commands.runPoints(run, fromSeq)),
  runAt: (run, seq) => asked(commands.runAt(run, seq)),
  rowsAt: (run, seq, beforeSeq) => asked(commands.rowsAt(run, seq, beforeSeq)),
  requestAt: (run, seq) => asked(commands.requestAt(run, seq)),
  requestBytesAt: (run, seq, offset) => asked(commands.requestBytesAt(run, seq, offset)),
  requestBlockAt: (run, seq, place, exact, offset) => asked(commands.requestBlockAt(run, seq, place, exact, offset)),
  actionAt: (run, action, seq) => asked(commands.actionAt(run, action, seq)),
  actionResultAt: (run, action, seq, offset) => asked(commands.actionResultAt(run, action, seq, offset)),
  actionArgumentsAt: (run, action, seq, offset) => asked(commands.actionArgumentsAt(run, action, seq, offset)),
  filesAt: (run, seq) => asked(commands.filesAt(run, seq)),
  filesBetween: (run, fromSeq, toSeq) => asked(commands.filesBetween(run, fromSeq, toSeq)),
  forkRun: (request) => asked(commands.forkRun(request)),
  compareRuns: (left, right, fromStep) => asked(commands.compareRuns(left, right, fromStep)),
  searchRuns: (search) => asked(commands.searchRuns(search)),
  deleteRun: (run) => asked(commands.deleteRun(run)),
  storageUsed: () => asked(commands.storageUsed()),
  freeStorage: () => asked(commands.freeStorage()),
  fileTextAt: (run, seq, path, offset) => asked(commands.fileTextAt(run, seq, path, offset)),

  listAgents: () => asked(commands.listAgents()),
  listModels: () => asked(commands.listModels()),
  startRun: (request) => asked(commands.startRun(request)),
  startDemo: () => asked(commands.startDemo()),

  cancelRun: (run) => done(commands.cancelRun(run)),
  pauseRun: (run) => done(commands.pauseRun(run)),
  resumeRun: (run) => done(commands.resumeRun(run)),
  sayToRun: (run, text) => done(commands.sayToRun(run, text)),
  approveAction: (run, action, approval) => done(commands.approveAction(run, action, approval)),
  denyAction: (run, action, reason) => done(commands.denyAction(run, action, reason)),
  askedArguments: (run, action, seen) => asked(commands.askedArguments(run, action, seen)),
  answerQuestion: (run, action, text) => done(commands.answerQuestion(run, action, text)),
  answerServer: (run, action, number, reply, values) => done(commands.answerServer(run, action, number, reply, values)),
  openAskedPage: (run, action, number) => done(commands.openAskedPage(run, action, number)),
  settleAction: (run, action, verdict, result) => done(commands.settleAction(run, action, verdict, result)),
  acceptResult: (run, accepted, note) => done(commands.acceptResult(run, accepted, note)),
  raiseLimits: (run, limits) => done(commands.raiseLimits(run, limits)),
  undoAction: (run, action) => done(commands.undoAction(run, action)),

  runFiles: (run) => asked(commands.runFiles(run)),
  artifactUrl: (run, path) => asked(commands.artifactUrl(run, path)),
  openWorkspace: (run) => done(commands.openWorkspace(run)),
  saveArtifact: (run, path) => asked(commands.saveArtifact(run, path)),

  getSettings: () => asked(commands.getSettings()),
  setTheme: (theme) => asked(commands.setTheme(theme)),
  saveProvider: (provider) => asked(commands.saveProvider(provider)),
  removeProvider: (name) => asked(commands.removeProvider(name)),
  testProvider: (name) => asked(commands.testProvider(name)),

  listKeys: () => asked(commands.listKeys()),
  setKey: (name, key) => asked(commands.setKey(name, key)),
  removeKey: (name) => asked(commands.removeKey(name)),
  chooseKeyPlace: (place) => asked(commands.chooseKeyPlace(place)),
  unlockKeys: (passphrase) => asked(commands.unlockKeys(passphrase)),
  beginKeys: (passphrase) => asked(commands.beginKeys(passphrase)),
  changePassphrase: (old, passphrase) => asked(commands.changePassphrase(old, passphrase)),
  lockKeys: () => asked(commands.lockKeys()),

  listServers: () => asked(commands.listServers()),
  saveServer: (server) => asked(commands.saveServer(server)),
  removeServer: (name) => asked(commands.removeServer(name)),
  testServer: (name) => asked(commands.testServer(name)),
  stopServer: (name) => done(commands.stopServer(name)),
  approveServer: (name, seen) => asked(commands.approveServer(name, seen)),
  async signInToServer(name, onPage) {
    const page = new Channel<SignInPage>();
    page.onmessage = onPage;
    return asked(commands.signInToServer(name, page));
  },
  signOutOfServer: (name) => asked(commands.signOutOfServer(name)),
  listSkills: () => asked(commands.listSkills()),
  reviewSkill: (folder) => asked(commands.reviewSkill(folder)),
  approveSkill: (folder, seen) => asked(commands.approveSkill(folder, seen)),
  installSkill: (offer, seen) => asked(commands.installSkill(offer, seen)),
  declineSkill: (offer) => done(commands.declineSkill(offer)),
  removeSkill: (name) => asked(commands.removeSkill(name)),
  chooseSkill: (zip) => done(commands.chooseSkill(zip)),

  listRules: () => asked(commands.listRules()),
  revokeRule: (id) => asked(commands.revokeRule(id)),

  openLink: (address) => openUrl(address).catch((thrown: unknown) => {
    throw new HostError('refused', `The browser could not be opened: ${String(thrown)}`, 'Copy the address and open it yourself.');
  }),
  copyText: (text) => navigator.clipboard.writeText(text),

  onQuitAsked: (listener) => events.quitAsked.listen((event) => listener(event.payload.running)),
  onOpenRun: (listener) => events.openRun.listen((event) => listener(event.payload.run)),
  onSkillOffered: (listener) => events.skillOffered.listen((event) => listener(event.payload)),
  onDropHovers: (listener) => events.dropHovers.listen((event) => listener(event.payload.over)),
  onSkillsChanged: (listener) => events.skillsChanged.listen(() => listener()),
  requestQuit: () => done(commands.requestQuit()),
  quit: (how) => done(commands.quit(how)),
  windowReady: () => done(commands.windowReady()),
};

/** The host that the build was made for. */
export function connect(): Host {
  return host;
}
