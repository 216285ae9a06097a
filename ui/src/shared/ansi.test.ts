import { describe, expect, it } from 'vitest';
import { pieces, plain } from './ansi';

const ESC = '\u001b';

describe('what a program wrote for a terminal', () => {
  it('has the colours of the window where it asks for colours', () => {
    expect(pieces(`a ${ESC}[1;31mred${ESC}[0m b`)).toEqual([
      { text: 'a ', colour: null, strong: false },
      { text: 'red', colour: 'red', strong: true },
      { text: ' b', colour: null, strong: false },
    ]);
    expect(pieces(`${ESC}[92mok${ESC}[39m.`).map((piece) => piece.colour)).toEqual(['green', null]);
    expect(pieces(`${ESC}[38;5;196mx${ESC}[38;2;1;2;3my${ESC}[32mz`).map((piece) => piece.colour)).toEqual([null, 'green']);
  });

  it('acts in no other way', () => {
    expect(plain(`a${ESC}[2Jb${ESC}]0;title\u0007c${ESC}]8;;https://example.org${ESC}\\d${ESC}(Be${ESC}cf`)).toBe('abcdef');
    expect(plain('\u0007bell \u202egnp.exe')).toBe('\ufffdbell \ufffdgnp.exe');
    expect(plain(`cut ${ESC}[3`)).toBe('cut ');
  });

  it('shows of a line that is written over what it was in the end', () => {
    expect(plain('10 %\r50 %\r100 %\ndone\r\n')).toBe('100 %\ndone\n');
    expect(plain('half\r')).toBe('half');
  });

  it('is one piece where there are too many', () => {
    const many = Array.from({ length: 5_000 }, (_, place) => `${ESC}[3${place % 7}mx`).join('');
    expect(pieces(many).length).toBeLessThanOrEqual(2_001);
    expect(plain(many)).toHaveLength(5_000);
  });
});
