import { describe, expect, it } from 'vitest';
import { argumentLines } from './arguments';

describe('the arguments of an approval', () => {
  it('are shown whole, one line each', () => {
    expect(argumentLines('{"channel": "#ann-lab", "blocks": [1, {"a": null}]}')).toEqual([
      { name: 'channel', value: '#ann-lab' },
      { name: 'blocks', value: '[\n  1,\n  {\n    "a": null\n  }\n]' },
    ]);
  });

  it.each(['{"channel": "#ann', '[1, 2]', '"text"', 'null', ''])('are shown as they stand when they are no object: %s', (text) => {
    expect(argumentLines(text)).toEqual([{ name: 'Arguments', value: text }]);
  });
});
