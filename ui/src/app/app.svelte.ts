import { getContext, setContext } from 'svelte';
import type { AgentLine, ModelLine, QuitChoice, RunLine, Settings, Theme } from '$host/bindings';
import { HostError, type Host } from '$host/host';
import type { RunModel } from '$features/run/run.svelte';
import type { ReplayModel } from '$features/replay/replay.svelte';
import { RunsModel } from '$features/runs/runs.svelte';
import { SkillsModel } from '$features/skills/skills.svelte';
import { provideClipboard } from '$shared/clipboard';
import { Clock } from '$shared/clock.svelte';
import { Router } from './route.svelte';
import { applyTheme } from './theme';

/** A message at the edge of the window. Errors stay until they are put away. */
export interface Toast {
  id: number;
  tone: 'bad' | 'plain';
  words: string;
  remedy: string;
}

/** So many messages stand at once; older ones leave first. */
const TOAST_LIMIT = 4;

/** A place that a shortcut can send the focus to. */
export type FocusPlace = 'question' | 'search' | 'steer' | 'approval' | 'words' | 'raise';

/** A question that is to be asked once more. */
export interface Again {
  question: string;
  agent: string;
}

/** What the whole window knows. Screens take it from the context. */
export class App {
  readonly router = new Router();
  readonly runs: RunsModel;
  readonly skills: SkillsModel;
  readonly clock: Clock;

  agents = $state.raw<AgentLine[]>([]);
  models = $state.raw<ModelLine[]>([]);
  settings = $state.raw<Settings | null>(null);
  settingsError = $state.raw<HostError | null>(null);
  /** The run on the screen. */
  run = $state.raw<RunModel | null>(null);
  /** The run that is looked back at, while it is. */
  replay = $state.raw<ReplayModel | null>(null);
  /** The run that the person is asked for another one to compare with. */
  comparing = $state<string | null>(null);
  /** The run that the person is asked about before it is deleted for good, and what comes after. */
  deleting = $state.raw<{ run: string; title: string; then: () => void } | null>(null);
  palette = $state(false);
  shortcuts = $state(false);
  /** Whether the inspector stands beside the conversation, and whether it lies over it. */
  private beside = $state(true);
  private over = $state(false);
  /** Whether the window has no room for the inspector beside the conversation. */
  narrow = $state(false);
  /** The source that the person asked to see; the inspector shows where it stands. */
  source = $state('');
  /** Set while the person is asked what quitting means for runs that work. */
  quitting = $state.raw<RunLine[] | null>(null);
  /** Set while the person is asked whether to cancel the run on the screen. */
  cancelling = $state(false);
  toasts = $state.raw<Toast[]>([]);
  /** What a screen reader is told: at once, or when it is quiet. */
  urgent = $state('');
  polite = $state('');

  /** Resolves when the lists that the first picture needs are there, or have been refused. */
  loaded: Promise<void> = Promise.resolve();

  /** What a person has begun to write as an answer, by what it answers: leaving loses nothing. */
  readonly drafts = new Map<string, string>();

  private again: Again | null = null;
  private places = new Map<FocusPlace, HTMLElement>();
  private lastToast = 0;

  constructor(readonly host: Host) {
    this.runs = new RunsModel(host);
    this.skills = new SkillsModel(host, (error) => this.fail(error));
    this.clock = new Clock(() => host.now());
  }

  /** Listens to the backend until the returned function is called. */
  start(): () => void {
    const stops = [this.clock.start(), this.router.start()];
    const listen = (listening: Promise<() => void>) => void listening.then((stop) => stops.push(stop), (thrown) => this.fail(thrown));
    listen(this.host.onQuitAsked((running) => (this.quitting = running)));
    listen(this.host.onOpenRun((run) => this.router.go({ screen: 'run', run })));
    this.skills.start(listen);
    void this.runs.start();
    this.loaded = this.reload();
    return () => {
      for (const stop of stops) stop();
      this.runs.end();
    };
  }

  /** Reads what changes only by hand: settings, agents, and models as soon as their providers answer. */
  async reload(): Promise<void> {
    const [agents, models] = [this.host.listAgents(), this.host.listModels()];
    try {
      this.takeSettings(await this.host.getSettings());
    } catch (thrown) {
      this.settingsError = HostError.from(thrown);
    }
    // A broken agent file or provider must not hide the others' lists.
    this.agents = await agents.catch((thrown) => this.fail(thrown) ?? []);
    void models.then(
      (lines) => (this.models = lines),
      (thrown) => this.fail(thrown),
    );
  }

  takeSettings(settings: Settings): void {
    this.settings = settings;
    this.settingsError = null;
    applyTheme(settings.theme);
  }

  async setTheme(theme: Theme): Promise<void> {
    applyTheme(theme);
    await this.doing(async () => this.takeSettings(await this.host.setTheme(theme)));
  }

  async quit(how: QuitChoice): Promise<void> {
    this.quitting = null;
    await this.doing(() => this.host.quit(how));
  }

  async startDemo(): Promise<void> {
    await this.doing(async () => this.router.go({ screen: 'run', run: await this.host.startDemo() }));
  }

  /** Follows a link of a text: a source in the panel, or an address in the person's browser. */
  async follow(address: string): Promise<void> {
    const source = /^#source-(S\d+)$/.exec(address)?.[1];
    if (source) this.showSource(source);
    else if (/^https?:/i.test(address)) await this.doing(() => this.host.openLink(address));
  }

  showSource(source: string): void {
    this.showInspector(true);
    this.source = source;
  }

  /** Whether the inspector is to be seen. In a narrow window it lies over the conversation, and only when asked for. */
  get inspector(): boolean {
    return this.narrow ? this.over : this.beside;
  }

  showInspector(shown: boolean): void {
    if (this.narrow) this.over = shown;
    else this.beside = shown;
  }

  /** Runs a request; a refusal becomes a message. Tells whether it went well. */
  async doing(deed: () => Promise<unknown>): Promise<boolean> {
    try {
      await deed();
      return true;
    } catch (thrown) {
      this.fail(thrown);
      return false;
    }
  }

  /** Puts a text on the clipboard. */
  async copy(text: string): Promise<boolean> {
    const done = await this.doing(() => this.host.copyText(text));
    if (done) this.polite = 'Copied.';
    return done;
  }

  /** Takes what should be asked once more, if anything. */
  takeAgain(): Again | null {
    const again = this.again;
    this.again = null;
    return again;
  }

  /** Leads to the start box with a question that was asked before. */
  askAgain(again: Again): void {
    this.again = again;
    this.router.go({ screen: 'runs' });
    requestAnimationFrame(() => this.focus('question'));
  }

  fail(thrown: unknown): undefined {
    const error = HostError.from(thrown);
    this.toast('bad', error.message, error.remedy);
    this.urgent = `${error.message} ${error.remedy}`;
  }

  tell(words: string): void {
    this.toast('plain', words, '');
    this.polite = words;
  }

  dismiss(id: number): void {
    this.toasts = this.toasts.filter((toast) => toast.id !== id);
  }

  /** An attachment: makes an element the target of {@link focus}. */
  place(name: FocusPlace): (element: HTMLElement) => () => void {
    return (element) => {
      this.places.set(name, element);
      return () => {
        if (this.places.get(name) === element) this.places.delete(name);
      };
    };
  }

  /** An attachment for the heading of a screen: the focus that a screen took away with it lands here. */
  landing = (heading: HTMLElement): void => {
    heading.tabIndex = -1;
    this.land(heading);
  };

  /** Gives the focus to a heading after the person went somewhere, unless something has it. */
  land(heading: HTMLElement | undefined): void {
    if (this.router.moved && document.activeElement === document.body) heading?.focus({ preventScroll: true });
  }

  focus(name: FocusPlace): void {
    this.places.get(name)?.focus();
  }

  private toast(tone: Toast['tone'], words: string, remedy: string): void {
    this.lastToast += 1;
    this.toasts = [...this.toasts, { id: this.lastToast, tone, words, remedy }].slice(-TOAST_LIMIT);
  }
}

const KEY = Symbol('app');

export function provideApp(app: App): void {
  setContext(KEY, app);
  provideClipboard((text) => app.copy(text));
}

export function useApp(): App {
  return getContext<App>(KEY);
}
