import { describe, expect, it } from 'vitest';
import { keysOf, LineWithoutValue, requestOf, type Wanted } from './fork';

const nothing: Wanted = { model: '', agent: '', instructions: '', action: '', result: '', rules: [], keys: '' };

describe('a fork', () => {
  it('leaves as it was what nobody changed', () => {
    expect(requestOf('r', 39, nothing)).toEqual({ run: 'r', seq: 39, model: null, agent: null, instructions: null, rules: [], set: [], results: [] });
  });

  it('asks for what is to be otherwise', () => {
    const wanted: Wanted = { model: 'lab/large', agent: 'triage', instructions: 'Be short.', action: 'a7', result: 'Nothing was found.', rules: [{ decision: 'ask', tool: 'write_file' }], keys: '\n model.temperature = 0.2\nbudget.steps=40\n' };
    expect(requestOf('r', 39, wanted)).toEqual({
      run: 'r',
      seq: 39,
      model: 'lab/large',
      agent: 'triage',
      instructions: 'Be short.',
      rules: ['{"tool":"write_file","decision":"ask"}'],
      set: [
        { key: 'model.temperature', value: '0.2' },
        { key: 'budget.steps', value: '40' },
      ],
      results: [{ action: 'a7', text: 'Nothing was found.' }],
    });
  });

  it('names the line that has no value', () => {
    expect(() => keysOf('budget.steps = 40\nbudget')).toThrow(new LineWithoutValue('budget'));
    expect(() => keysOf('= 4')).toThrow(LineWithoutValue);
    expect(keysOf('text = a = b')).toEqual([{ key: 'text', value: 'a = b' }]);
  });
});
