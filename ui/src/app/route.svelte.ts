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
  | { screen: 'run'; run: string }
  | { screen: 'artifact'; run: string; path: string }
  | { screen: 'settings'; section?: SettingsSection };

export function parseRoute(hash: string): Route {
  const parts = hash.replace(/^#\/?/, '').split('/').map(decoded);
  const [screen, run, part, ...rest] = parts;
  if (screen === 'settings') {
    const section = SETTINGS_SECTIONS.find((entry) => entry.id === run)?.id;
    return section ? { screen: 'settings', section } : { screen: 'settings' };
  }
  if (screen === 'run' && run) {
    if (part === 'artifact' && rest.length > 0) return { screen: 'artifact', run, path: rest.join('/') };
    return { screen: 'run', run };
  }
  return { screen: 'runs' };
}

export function routeHash(route: Route): string {
  switch (route.screen) {
    case 'runs':
      return '#/runs';
    case 'settings':
      return route.section ? `#/settings/${route.section}` : '#/settings';
    case 'run':
      return `#/run/${encodeURIComponent(route.run)}`;
    case 'artifact':
      return `#/run/${encodeURIComponent(route.run)}/artifact/${encodeURIComponent(route.path)}`;
  }
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

  go(route: Route): void {
    this.moved = true;
    location.hash = routeHash(route);
    this.current = route;
  }
}
