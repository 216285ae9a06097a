import { describe, expect, it } from 'vitest';
import { linesOf } from './difference';

const kinds = (text: string) => linesOf(text).map((line) => line.kind);

describe('lines of a difference', () => {
  it('are told apart by their signs', () => {
    const lines = linesOf('--- approved\n+++ now\n@@ -7,3 +7,3 @@\n # Beans\n-left\n+right\n \n');
    expect(lines.map(({ kind, text }) => `${kind}: ${text}`)).toEqual(['place: line 7', 'same:  # Beans', 'gone: -left', 'new: +right', 'same:  ']);
  });

  it('keep their signs also where those look like the names of files', () => {
    expect(kinds('@@ -1,2 +1,2 @@\n--- a rule\n+++ a rule\n-a\n+b\n')).toEqual(['place', 'gone', 'new', 'gone', 'new']);
  });

  it('end where the difference says that it ends', () => {
    expect(kinds('- a list\n+ of words\n\nSKILL.md\n@@ -3 +3 @@\n-left\n+right\n- not of it\n+ nor this')).toEqual([
      'plain',
      'plain',
      'plain',
      'plain',
      'place',
      'gone',
      'new',
      'plain',
      'plain',
    ]);
  });

  it('may have lost the space before an empty one', () => {
    expect(kinds('@@ -1,2 +1,3 @@\n\n kept\n+added\n\n- after')).toEqual(['place', 'same', 'same', 'new', 'plain', 'plain']);
  });

  it('end where it was cut', () => {
    expect(kinds('@@ -1,40 +1,40 @@\n-left\n…\n- after')).toEqual(['place', 'gone', 'plain', 'plain']);
  });

  it('go on with the next part', () => {
    expect(kinds('@@ -1 +1 @@\n-a\n+b\n@@ -9,0 +10,2 @@\n+c\n+d\n+e')).toEqual(['place', 'gone', 'new', 'place', 'new', 'new', 'plain']);
  });
});
