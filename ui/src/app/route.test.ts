import { describe, expect, it } from 'vitest';
import { parseRoute, routeHash, type Route } from './route.svelte';

describe('the address of a screen', () => {
  it.each<Route>([
    { screen: 'runs' },
    { screen: 'settings' },
    { screen: 'settings', section: 'keys' },
    { screen: 'run', run: '01JE7' },
    { screen: 'artifact', run: '01JE7', path: 'site/index page.html' },
    { screen: 'artifact', run: 'a/b', path: '50%.html' },
  ])('comes back after a reload: %o', (route) => {
    expect(parseRoute(routeHash(route))).toEqual(route);
  });

  it.each(['', '#', '#/nowhere', '#/run', '#/run/'])('leads to the runs when it leads nowhere: %s', (hash) => {
    expect(parseRoute(hash)).toEqual({ screen: 'runs' });
  });
});
