import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const ALIASES: Record<string, string> = { $shared: 'src/shared', $features: 'src/features', $app: 'src/app', $host: 'src/host' };
/** They take a whole side of the window, and have pictures of their own. */
const SCREENS = ['Conversation', 'Family', 'Files', 'Inspector', 'RunHeader', 'RunScreen', 'Sources', 'Working'];

/** The components that a file draws, directly or by others. */
function drawnBy(file: string, found = new Set<string>()): Set<string> {
  for (const [, from] of readFileSync(file, 'utf8').matchAll(/import [^;]*? from '([^']+\.svelte)';/g)) {
    const [head, ...rest] = (from ?? '').split('/');
    const alias = ALIASES[head ?? ''];
    if (!alias && !head?.startsWith('.')) continue;
    const path = normalize(alias ? join(alias, ...rest) : join(dirname(file), from ?? ''));
    // `app.svelte` is a module with state: `app.svelte.ts`.
    if (found.has(path) || !existsSync(path)) continue;
    found.add(path);
    drawnBy(path, found);
  }
  return found;
}

const inFolder = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.svelte'))
    .map((name) => join(folder, name));

describe('the gallery', () => {
  const drawn = drawnBy('src/gallery/Gallery.svelte');

  it('shows every component that screens share', () => {
    expect(inFolder('src/shared').filter((path) => !drawn.has(path))).toEqual([]);
  });

  it('shows every part of a run', () => {
    const parts = inFolder('src/features/run').filter((path) => !SCREENS.some((name) => path.endsWith(`/${name}.svelte`)));
    expect(parts.filter((path) => !drawn.has(path))).toEqual([]);
  });

  it('is no part of the window', () => {
    expect([...drawnBy('src/app/Shell.svelte')].filter((path) => path.startsWith('src/gallery'))).toEqual([]);
    expect(readFileSync('index.html', 'utf8')).not.toContain('gallery');
  });
});
