/** A section of the settings, by its place in the address. */
export type SettingsSection = 'appearance' | 'providers' | 'keys' | 'servers' | 'skills' | 'rules' | 'data' | 'about';

/** The sections of the settings in their order. */
export const SETTINGS_SECTIONS: readonly { id: SettingsSection; words: string }[] = [
  { id: 'appearance', words: 'Appearance' },
  { id: 'providers', words: 'Model providers' },
  { id: 'keys', words: 'Keys' },
  { id: 'servers', words: 'Servers' },
  { id: 'skills', words: 'Skills' },
  { id: 'rules', words: 'Rules' },
  { id: 'data', words: 'Data' },
  { id: 'about', words: 'About' },
];

/** Where the window is; kept in the address, so that a reload comes back to it. */
export type Route =
  | { screen: 'runs' }
  | { screen: 'inbox'; run: string | null }
  /** At an event, where the person was led to a place in it. */
  | { screen: 'run'; run: string; at?: number }
  | { screen: 'artifact'; run: string; path: string }
  | { screen: 'replay'; run: string; seq: number | null }
  | { screen: 'compare'; left: string; right: string }
  | { screen: 'settings'; section?: SettingsSection };

export function parseRoute(hash: string): Route {
  const parts = hash.replace(/^#\/?/, '').split('/').map(decoded);
  const [screen, run, part, ...rest] = parts;
  if (screen === 'settings') {
    const section = SETTINGS_SECTIONS.find((entry) => entry.id === run)?.id;
    return section ? { screen: 'settings', section } : { screen: 'settings' };
  }
  if (screen === 'compare' && run && part) return { screen: 'compare', left: run, right: part };
  if (screen === 'waiting') return { screen: 'inbox', run: run || null };
  if (screen === 'run' && run) {
    if (part === 'artifact' && rest.length > 0) return { screen: 'artifact', run, path: rest.join('/') };
    if (part === 'replay') return { screen: 'replay', run, seq: eventOf(rest[0]) };
    const at = part === 'at' ? eventOf(rest[0]) : null;
    return at === null ? { screen: 'run', run } : { screen: 'run', run, at };
  }
  return { screen: 'runs' };
}

export function routeHash(route: Route): string {
  switch (route.screen) {
    case 'runs':
      return '#/runs';
    case 'inbox':
      return route.run === null ? '#/waiting' : `#/waiting/${encodeURIComponent(route.run)}`;
    case 'settings':
      return route.section ? `#/settings/${route.section}` : '#/settings';
    case 'run':
      return `#/run/${encodeURIComponent(route.run)}${route.at === undefined ? '' : `/at/${route.at}`}`;
    case 'compare':
      return `#/compare/${encodeURIComponent(route.left)}/${encodeURIComponent(route.right)}`;
    case 'replay':
      return `#/run/${encodeURIComponent(route.run)}/replay${route.seq === null ? '' : `/${route.seq}`}`;
    case 'artifact':
      return `#/run/${encodeURIComponent(route.run)}/artifact/${encodeURIComponent(route.path)}`;
  }
}

/** The number of an event; `null` for what is none. */
function eventOf(part: string | undefined): number | null {
  return part !== undefined && /^[1-9]\d{0,9}$/.test(part) ? Number(part) : null;
}

/** An address that was cut in the middle of an escape is taken as it stands. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export class Router {
  current = $state.raw<Route>(parseRoute(location.hash));
  /** Whether the person went anywhere since the window was opened. */
  moved = false;

  start(): () => void {
    const follow = () => {
      this.moved = true;
      this.current = parseRoute(location.hash);
    };
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }

  /** Keeps in the address where a screen is now, so that a reload comes back to it; going back leads out of it. */
  note(route: Route): void {
    if (routeHash(route) === location.hash) return;
    history.replaceState(history.state, '', routeHash(route));
    this.current = route;
  }

  go(route: Route): void {
    this.moved = true;
    location.hash = routeHash(route);
    this.current = route;
  }
}
