import { describe, expect, it } from 'vitest';
import type { FieldLine, FieldLineKind } from '$host/bindings';
import { begun, values } from './serverForm';

function field(name: string, kind: FieldLineKind, parts: Partial<FieldLine> = {}): FieldLine {
  const choices = kind === 'one' || kind === 'many' ? ['a', 'b'].map((value) => ({ value, title: value })) : [];
  return { name, title: name, description: '', hint: '', required: true, default: '', kind, choices, how_many: '', ...parts };
}

describe('a form of a server', () => {
  it('begins with what the server proposes, where that can be chosen', () => {
    const fields = [
      field('city', 'text', { default: '"Bern"' }),
      field('days', 'whole', { default: '3' }),
      field('keep', 'yes_no', { default: 'false' }),
      field('mode', 'one', { default: '"c"' }),
      field('kinds', 'many', { default: '["b","c"]' }),
      field('odd', 'text', { default: '{"a":1}' }),
      field('note', 'text'),
    ];
    expect(begun(fields)).toEqual(['Bern', '3', 'false', '', ['b'], '', '']);
  });

  it('sends what was typed as it was typed, and nothing where nothing was', () => {
    const fields = [field('days', 'whole'), field('note', 'text', { required: false }), field('kinds', 'many')];
    expect(values(fields, [' 007', '', []])).toBe('{"days":" 007"}');
    expect(values(fields, ['9007199254740993', 'a\n"b"', ['a']])).toBe('{"days":"9007199254740993","note":"a\\n\\"b\\"","kinds":["a"]}');
  });

  it('says of a proposal that was taken away that it was', () => {
    const fields = [field('city', 'text', { default: '"Bern"' }), field('kinds', 'many', { default: '["a"]' })];
    expect(values(fields, ['', []])).toBe('{"city":"","kinds":[]}');
  });

  it('keeps a field that is called like something of every object', () => {
    expect(values([field('__proto__', 'text'), field('constructor', 'text')], ['a', 'b'])).toBe('{"__proto__":"a","constructor":"b"}');
  });
});
