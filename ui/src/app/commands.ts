import ChevronFirst from '@lucide/svelte/icons/chevron-first';
import ChevronLast from '@lucide/svelte/icons/chevron-last';
import ChevronLeft from '@lucide/svelte/icons/chevron-left';
import ChevronRight from '@lucide/svelte/icons/chevron-right';
import CirclePlay from '@lucide/svelte/icons/circle-play';
import CircleSlash from '@lucide/svelte/icons/circle-slash';
import Columns2 from '@lucide/svelte/icons/columns-2';
import Copy from '@lucide/svelte/icons/copy';
import CornerLeftUp from '@lucide/svelte/icons/corner-left-up';
import FolderOpen from '@lucide/svelte/icons/folder-open';
import GitFork from '@lucide/svelte/icons/git-fork';
import Hand from '@lucide/svelte/icons/hand';
import History from '@lucide/svelte/icons/history';
import Inbox from '@lucide/svelte/icons/inbox';
import Keyboard from '@lucide/svelte/icons/keyboard';
import ListTree from '@lucide/svelte/icons/list-tree';
import MessageSquareCode from '@lucide/svelte/icons/message-square-code';
import MessageSquareText from '@lucide/svelte/icons/message-square-text';
import Monitor from '@lucide/svelte/icons/monitor';
import Moon from '@lucide/svelte/icons/moon';
import PanelRight from '@lucide/svelte/icons/panel-right';
import PanelsTopLeft from '@lucide/svelte/icons/panels-top-left';
import Pause from '@lucide/svelte/icons/pause';
import Play from '@lucide/svelte/icons/play';
import Plus from '@lucide/svelte/icons/plus';
import Power from '@lucide/svelte/icons/power';
import RotateCcw from '@lucide/svelte/icons/rotate-ccw';
import Search from '@lucide/svelte/icons/search';
import Settings from '@lucide/svelte/icons/settings';
import Sun from '@lucide/svelte/icons/sun';
import Trash2 from '@lucide/svelte/icons/trash-2';
import type { Component } from 'svelte';
import { offersCancel, offersPause, offersResume, offersWords } from '$shared/states';
import { isPressed, isTyping } from '$shared/keys';
import type { ReplayModel } from '$features/replay/replay.svelte';
import type { App } from './app.svelte';
import { SETTINGS_SECTIONS } from './route.svelte';

export type CommandGroup = 'go' | 'run' | 'replay' | 'window';

/** One thing that can be done, wherever it is offered: palette, menus, shortcuts, the sheet. */
export interface Command {
  id: string;
  title: string;
  group: CommandGroup;
  icon: Component<{ size?: number | string }>;
  keys?: string;
  /** Words that also find it in the palette. */
  also?: string;
  /** Whether it makes sense now. */
  offered: (app: App) => boolean;
  run: (app: App) => void | Promise<unknown>;
}

const always = () => true;
/** The run on the screen as it stands now; none while it is looked back at. */
const head = (app: App) => (app.replay ? null : (app.run?.head ?? null));
const past = (app: App) => app.replay !== null;

/** A deed on the run that is looked back at. */
function looking(deed: (replay: ReplayModel) => unknown): Command['run'] {
  return (app) => void (app.replay && deed(app.replay));
}

/** Goes to the next event of these kinds; says so where there is none. */
function seeking(kinds: readonly string[], what: string): Command['run'] {
  return async (app) => {
    const replay = app.replay;
    if (replay && !(await replay.seek(kinds)) && !replay.error) app.tell(`There is no ${what} after this event.`);
  };
}

/** What the run on the screen was asked first, where its first row is at hand. */
function questionOf(app: App): string | null {
  const first = app.run?.earlier === 0 ? app.run.rows[0]?.content : undefined;
  return first?.kind === 'question' ? first.text : null;
}

/** The run on the screen in a deed; nothing happens when there is none. */
function withRun(deed: (app: App, run: string) => Promise<unknown>): Command['run'] {
  return (app) => (app.run ? app.doing(() => deed(app, app.run?.run ?? '')) : undefined);
}

function inState(test: (state: NonNullable<ReturnType<typeof head>>['state']) => boolean): Command['offered'] {
  return (app) => {
    const shown = head(app);
    return shown !== null && test(shown.state);
  };
}

/** The table. Its order is the order of the palette and of the sheet. */
export const COMMANDS: readonly Command[] = [
  { id: 'palette', title: 'Find a run or a command', group: 'go', icon: Search, keys: 'Mod+K', offered: always, run: (app) => void (app.palette = !app.palette) },
  {
    id: 'question',
    title: 'New question',
    group: 'go',
    icon: Plus,
    keys: 'Mod+N',
    also: 'start run ask',
    offered: always,
    run: (app) => {
      app.router.go({ screen: 'runs' });
      requestAnimationFrame(() => app.focus('question'));
    },
  },
  { id: 'runs', title: 'Runs', group: 'go', icon: ListTree, keys: 'Mod+1', also: 'list home', offered: always, run: (app) => app.router.go({ screen: 'runs' }) },
  {
    id: 'search',
    title: 'Search the runs',
    group: 'go',
    icon: Search,
    keys: '/',
    also: 'find filter text',
    offered: always,
    run: (app) => {
      app.router.go({ screen: 'runs' });
      // At once where the list is here, so that no letter is lost; else when it is drawn.
      app.focus('search');
      requestAnimationFrame(() => app.focus('search'));
    },
  },
  { id: 'inbox', title: 'Waiting for you', group: 'go', icon: Inbox, keys: 'Mod+2', also: 'approvals questions handoffs inbox pending', offered: always, run: (app) => app.router.go({ screen: 'inbox', run: null }) },
  { id: 'settings', title: 'Settings', group: 'go', icon: Settings, keys: 'Mod+Comma', also: 'providers theme preferences', offered: always, run: (app) => app.router.go({ screen: 'settings' }) },
  ...SETTINGS_SECTIONS.map(
    ({ id, words }): Command => ({ id: `settings-${id}`, title: `Settings: ${words}`, group: 'go', icon: Settings, offered: always, run: (app) => app.router.go({ screen: 'settings', section: id }) }),
  ),
  { id: 'demo', title: 'Run the demo', group: 'go', icon: CirclePlay, also: 'example offline', offered: always, run: (app) => app.startDemo() },

  { id: 'steer', title: 'Say something to the run', group: 'run', icon: MessageSquareText, keys: 'S', also: 'steer turn', offered: inState(offersWords), run: (app) => app.focus('steer') },
  {
    id: 'pause',
    title: 'Pause',
    group: 'run',
    icon: Pause,
    keys: 'P',
    offered: inState(offersPause),
    run: withRun((app, run) => app.host.pauseRun(run)),
  },
  {
    id: 'resume',
    title: 'Resume',
    group: 'run',
    icon: Play,
    keys: 'R',
    also: 'continue go on raise limit',
    offered: inState(offersResume),
    // At a limit it would only stop again: the person is led to where it is raised.
    run: (app) => (head(app)?.reached ? app.focus('raise') : withRun((_, run) => app.host.resumeRun(run))(app)),
  },
  { id: 'approval', title: 'Go to what waits for you', group: 'run', icon: Hand, keys: 'A', also: 'answer approve deny question accept', offered: (app) => (!past(app) && (app.run?.asked.length ?? 0) > 0) || head(app)?.acceptance != null, run: (app) => app.focus('approval') },
  {
    id: 'artifact',
    title: 'Open the result',
    group: 'run',
    icon: PanelsTopLeft,
    keys: 'O',
    also: 'artifact page evidence',
    offered: (app) => (head(app)?.artifacts.length ?? 0) > 0,
    run: (app) => {
      const shown = head(app);
      const artifact = shown?.artifacts.at(-1);
      if (shown && artifact) app.router.go({ screen: 'artifact', run: shown.run, path: artifact.path });
    },
  },
  { id: 'parent', title: 'Go to the run that it works for', group: 'run', icon: CornerLeftUp, keys: 'U', also: 'parent up back helper', offered: (app) => (head(app)?.parent ?? '') !== '', run: (app) => app.router.go({ screen: 'run', run: head(app)?.parent ?? '' }) },
  { id: 'inspector', title: 'Show or hide the inspector', group: 'run', icon: PanelRight, keys: 'I', also: 'panel plan budget sources', offered: (app) => app.run !== null && app.router.current.screen === 'run', run: (app) => app.showInspector(!app.inspector) },
  { id: 'folder', title: 'Show the workspace folder', group: 'run', icon: FolderOpen, also: 'files open', offered: (app) => app.run !== null, run: withRun((app, run) => app.host.openWorkspace(run)) },
  {
    id: 'copy-id',
    title: 'Copy the run’s id',
    group: 'run',
    icon: Copy,
    offered: (app) => app.run !== null,
    run: withRun(async (app, run) => {
      await app.host.copyText(run);
      app.tell('The run’s id is on the clipboard.');
    }),
  },
  {
    id: 'again',
    title: 'Ask it again',
    group: 'run',
    icon: RotateCcw,
    also: 'repeat retry new run question',
    // A child was asked by its parent, and not in words for a start.
    offered: (app) => inState((state) => !offersCancel(state))(app) && head(app)?.parent === '' && questionOf(app) !== null,
    run: (app) => {
      const [shown, question] = [head(app), questionOf(app)];
      if (shown && question !== null) app.askAgain({ question, agent: shown.agent });
    },
  },
  { id: 'replay', title: 'Look back at the run', group: 'run', icon: History, keys: 'T', also: 'replay time travel scrub request inspect', offered: (app) => head(app) !== null, run: (app) => app.router.go({ screen: 'replay', run: app.run?.run ?? '', seq: null }) },
  { id: 'compare', title: 'Compare with another run', group: 'run', icon: Columns2, keys: 'C', also: 'difference side by side fork', offered: (app) => app.run?.head != null && app.router.current.screen !== 'inbox', run: (app) => void (app.comparing = app.run?.run ?? null) },
  { id: 'cancel', title: 'Cancel the run', group: 'run', icon: CircleSlash, also: 'stop end', offered: inState(offersCancel), run: (app) => void (app.cancelling = true) },

  { id: 'replay-play', title: 'Play, or stop playing', group: 'replay', icon: CirclePlay, keys: 'Space', offered: past, run: looking((replay) => (replay.playing ? replay.pause() : replay.play())) },
  { id: 'replay-back', title: 'One event back', group: 'replay', icon: ChevronLeft, keys: 'ArrowLeft', offered: past, run: looking((replay) => replay.step(-1)) },
  { id: 'replay-on', title: 'One event on', group: 'replay', icon: ChevronRight, keys: 'ArrowRight', offered: past, run: looking((replay) => replay.step(1)) },
  { id: 'replay-first', title: 'To the first event', group: 'replay', icon: ChevronFirst, keys: 'Home', offered: past, run: looking((replay) => replay.step(-replay.last)) },
  { id: 'replay-last', title: 'To the last event', group: 'replay', icon: ChevronLast, keys: 'End', offered: past, run: looking((replay) => replay.step(replay.last)) },
  { id: 'replay-request', title: 'To the next request', group: 'replay', icon: MessageSquareCode, keys: 'N', also: 'model', offered: past, run: seeking(['model.requested'], 'request') },
  { id: 'replay-asked', title: 'To the next that asked you something', group: 'replay', icon: Hand, keys: 'W', also: 'approval question wait', offered: past, run: seeking(['approval.requested', 'question.asked', 'acceptance.requested', 'action.uncertain', 'run.handed_off'], 'question to you') },
  { id: 'fork', title: 'Fork from here', group: 'replay', icon: GitFork, keys: 'F', also: 'branch copy', offered: past, run: looking((replay) => (replay.pause(), (replay.forking = true))) },

  {
    id: 'delete',
    title: 'Delete the run',
    group: 'run',
    icon: Trash2,
    also: 'remove for good space',
    // A helper is a part of the run that it works for, and goes with it.
    offered: (app) => inState((state) => !offersPause(state))(app) && head(app)?.parent === '',
    run: (app) => {
      const shown = head(app);
      if (shown) app.deleting = { run: shown.run, title: shown.title, then: () => app.router.go({ screen: 'runs' }) };
    },
  },

  { id: 'light', title: 'Light theme', group: 'window', icon: Sun, offered: always, run: (app) => app.setTheme('light') },
  { id: 'dark', title: 'Dark theme', group: 'window', icon: Moon, offered: always, run: (app) => app.setTheme('dark') },
  { id: 'system', title: 'Theme of the system', group: 'window', icon: Monitor, offered: always, run: (app) => app.setTheme('system') },
  { id: 'shortcuts', title: 'Keyboard shortcuts', group: 'window', icon: Keyboard, keys: '?', also: 'help keys', offered: always, run: (app) => void (app.shortcuts = !app.shortcuts) },
  { id: 'quit', title: 'Quit Longrein', group: 'window', icon: Power, keys: 'Mod+Q', also: 'exit end close', offered: always, run: (app) => app.doing(() => app.host.requestQuit()) },
];

/** A command of the table; a wrong id is a mistake in this program. */
export function command(id: string): Command {
  const found = COMMANDS.find((entry) => entry.id === id);
  if (!found) throw new Error(`no command ${id}`);
  return found;
}

/** Runs the command of a key press, unless it is text or a dialog has the keyboard. */
export function handleKey(app: App, event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  const inDialog = app.palette || app.shortcuts || app.cancelling || app.quitting !== null || app.comparing !== null || app.deleting !== null || app.replay?.forking === true;
  for (const entry of COMMANDS) {
    if (!entry.keys || !isPressed(entry.keys, event)) continue;
    if (!entry.keys.includes('Mod') && isTyping(event.target)) continue;
    // On a button the space bar presses it.
    if (entry.keys === 'Space' && event.target instanceof Element && event.target.closest('button, a, [role=radio]')) continue;
    if (inDialog && entry.id !== 'palette' && entry.id !== 'shortcuts') continue;
    if (!entry.offered(app)) continue;
    event.preventDefault();
    void entry.run(app);
    return;
  }
}
