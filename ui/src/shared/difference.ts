/** What a line of a text with unified differences in it is: of a difference, or words around one. */
export type LineKind = 'new' | 'gone' | 'same' | 'place' | 'plain';

export interface Line {
  kind: LineKind;
  text: string;
}

/** Where a part of a difference begins: how many lines it takes of the old and of the new text. */
const PLACE = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const SIGNS: Record<string, LineKind> = { '+': 'new', '-': 'gone', ' ': 'same' };

/**
 * The lines of a text. A sign counts only as far as a part of a difference goes by its own word: what
 * begins with a plus or a minus elsewhere is a line like any other.
 */
export function linesOf(text: string): Line[] {
  const lines = text.replace(/\n$/, '').split('\n');
  const told: Line[] = [];
  let old = 0;
  let fresh = 0;
  for (const [at, line] of lines.entries()) {
    // An empty line may have lost the space before it.
    const kind: LineKind | undefined = old > 0 || fresh > 0 ? SIGNS[line[0] ?? ' '] : undefined;
    if (kind) {
      if (kind !== 'new') old -= 1;
      if (kind !== 'gone') fresh -= 1;
      told.push({ kind, text: line });
      continue;
    }
    old = fresh = 0;
    const place = PLACE.exec(line);
    if (place) {
      old = Number(place[1] ?? 1);
      fresh = Number(place[3] ?? 1);
      told.push({ kind: 'place', text: `line ${place[2]}` });
    } else if (!isHead(lines, at)) told.push({ kind: 'plain', text: line });
  }
  return told;
}

/** The two lines that name what is compared, which whoever shows it has said already. */
function isHead(lines: string[], at: number): boolean {
  const begins = (place: number, sign: string) => lines[place]?.startsWith(sign) ?? false;
  const head = begins(at, '--- ') ? at : begins(at, '+++ ') ? at - 1 : -1;
  return head >= 0 && begins(head, '--- ') && begins(head + 1, '+++ ') && begins(head + 2, '@@ ');
}
