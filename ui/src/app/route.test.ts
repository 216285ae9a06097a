import { describe, expect, it } from 'vitest';
import { parseRoute, routeHash, type Route } from './route.svelte';

describe('the address of a screen', () => {
  it.each<Route>([
    { screen: 'runs' },
    { screen: 'inbox', run: null },
    { screen: 'inbox', run: '01JE7' },
    { screen: 'settings' },
    { screen: 'settings', section: 'keys' },
    { screen: 'run', run: '01JE7' },
    { screen: 'run', run: '01JE7', at: 34 },
    { screen: 'compare', left: '01JE7', right: 'a/b' },
    { screen: 'artifact', run: '01JE7', path: 'site/index page.html' },
    { screen: 'artifact', run: 'a/b', path: '50%.html' },
    { screen: 'replay', run: '01JE7', seq: 34 },
    { screen: 'replay', run: 'a/b', seq: null },
  ])('comes back after a reload: %o', (route) => {
    expect(parseRoute(routeHash(route))).toEqual(route);
  });

  it.each(['', '#', '#/nowhere', '#/run', '#/run/'])('leads to the runs when it leads nowhere: %s', (hash) => {
    expect(parseRoute(hash)).toEqual({ screen: 'runs' });
  });
});
