import type { Theme } from '$host/bindings';

/** The theme of the last start, so that the first picture has the right colours. */
const REMEMBERED = 'longrein.theme';

const dark = matchMedia('(prefers-color-scheme: dark)');
let chosen: Theme = 'system';

/** Sets the colours of the window, and follows the system when that was chosen. */
export function applyTheme(theme: Theme): void {
  chosen = theme;
  localStorage.setItem(REMEMBERED, theme);
  paint();
}

/** Colours for the first picture, before the settings are read. */
export function applyRememberedTheme(): void {
  const theme = localStorage.getItem(REMEMBERED);
  chosen = theme === 'light' || theme === 'dark' ? theme : 'system';
  paint();
  dark.addEventListener('change', paint);
}

function paint(): void {
  const isDark = chosen === 'dark' || (chosen === 'system' && dark.matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
}
