/** Shortcuts as text: `Mod+K`, `Shift+?`, `S`. `Mod` is Command on a Mac and Control elsewhere. */

const CAPS: Record<string, string> = {
  Enter: 'Enter',
  Escape: 'Esc',
  Comma: ',',
  Period: '.',
  ArrowUp: 'Up',
  ArrowDown: 'Down',
  ArrowLeft: 'Left',
  ArrowRight: 'Right',
};

const MAC_CAPS: Record<string, string> = { Mod: 'Cmd', Alt: 'Opt' };
const OTHER_CAPS: Record<string, string> = { Mod: 'Ctrl' };

export const onMac = typeof navigator !== 'undefined' && /Mac/.test(navigator.platform);

/** The caps to draw for a shortcut. */
export function keyCaps(keys: string, mac = onMac): string[] {
  const modifiers = mac ? MAC_CAPS : OTHER_CAPS;
  return keys.split('+').map((key) => modifiers[key] ?? CAPS[key] ?? key);
}

/** Whether a key press is this shortcut. Shift counts only for letters, as `?` needs it to be typed. */
export function isPressed(keys: string, event: KeyboardEvent, mac = onMac): boolean {
  const parts = keys.split('+');
  const key = parts.at(-1) ?? '';
  const mod = mac ? event.metaKey : event.ctrlKey;
  const foreign = mac ? event.ctrlKey : event.metaKey;
  if (foreign || mod !== parts.includes('Mod') || event.altKey !== parts.includes('Alt')) return false;
  if (/^[A-Z0-9]$/.test(key) || key.length > 1) {
    if (event.shiftKey !== parts.includes('Shift')) return false;
  }
  const named: Record<string, string> = { Comma: ',', Period: '.', Space: ' ' };
  return event.key.toUpperCase() === (named[key] ?? key).toUpperCase();
}

/** Whether the press goes into a field, where single letters are text. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}
