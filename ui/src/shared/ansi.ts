/** What a program wrote for a terminal, as pieces of text with one look each. Nothing of it acts. */

/** The colours that a piece may have: tokens of the window, never those that the program names. */
export type AnsiColour = 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan' | 'dim';

export interface Piece {
  text: string;
  colour: AnsiColour | null;
  strong: boolean;
}

/** More pieces than these are not told apart: what is left is one plain piece. */
const PIECES_LIMIT = 2_000;

/**
 * A sequence that acts on a terminal: with parameters (`ESC [ … letter`), with a text of its own
 * (`ESC ] … BEL`, and its kin), or of one or two letters.
 */
const SEQUENCE = /\u001b(?:\[[0-9;:?]*$|\[([0-9;:?]*)[ -/]*([@-~])|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])|\u009b([0-9;:?]*)[ -/]*([@-~])/g;
/** What else has no place in text that is read: controls but for line ends and tabs, and what turns its direction. */
const UNREADABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const COLOURS: readonly (AnsiColour | null)[] = ['dim', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', null];

/** The text in pieces; a line that was written over is what it was in the end. */
export function pieces(text: string): Piece[] {
  const told: Piece[] = [];
  let colour: AnsiColour | null = null;
  let strong = false;
  let from = 0;
  const push = (part: string) => {
    const clean = part.replace(UNREADABLE, '\ufffd');
    if (clean === '') return;
    const last = told.at(-1);
    if (last && last.colour === colour && last.strong === strong) last.text += clean;
    else told.push({ text: clean, colour, strong });
  };
  const source = written(text);
  for (const match of source.matchAll(SEQUENCE)) {
    if (told.length >= PIECES_LIMIT) break;
    push(source.slice(from, match.index));
    from = match.index + match[0].length;
    if ((match[2] ?? match[4]) === 'm') [colour, strong] = looked(match[1] ?? match[3] ?? '', colour, strong);
  }
  push(source.slice(from).replace(SEQUENCE, ''));
  return told;
}

/** The text without any sequence, for the clipboard. */
export function plain(text: string): string {
  return pieces(text)
    .map((piece) => piece.text)
    .join('');
}

/** A progress bar writes its line again and again: only the last of it stands. */
function written(text: string): string {
  const last = (line: string) => line.slice(line.lastIndexOf('\r', line.length - 2) + 1).replace('\r', '');
  return text.includes('\r') ? text.split('\n').map(last).join('\n') : text;
}

function looked(parameters: string, colour: AnsiColour | null, strong: boolean): [AnsiColour | null, boolean] {
  const codes = parameters.split(/[;:]/).map(Number);
  let [now, heavy] = [colour, strong];
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 0) [now, heavy] = [null, false];
    else if (code === 1) heavy = true;
    else if (code === 2) now = 'dim';
    else if (code === 22) heavy = false;
    else if (code === 39) now = null;
    else if (code >= 30 && code <= 37) now = COLOURS[code - 30] ?? null;
    else if (code >= 90 && code <= 97) now = COLOURS[code - 90] ?? null;
    // A colour of a larger table has its numbers after it; its own colour is not taken.
    else if (code === 38 || code === 48) at += codes[at + 1] === 5 ? 2 : 4;
  }
  return [now, heavy];
}
