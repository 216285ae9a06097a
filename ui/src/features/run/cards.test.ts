import { describe, expect, it } from 'vitest';
import type { ActionRow, RunLine } from '$host/bindings';
import { everyCard } from '$host/fake/work';
import { ancestorsOf, childrenOf, delegatedBy, familyOf } from './children';
import { argumentsOf, hitsOf, kindOf, marked, offloadedOf, outputOf, planBefore, planChanges, recalledOf, replaced, tasksOf } from './cards';
import { Story } from '$host/fake/story';

const rows = everyCard('r').rows;
const actions = rows.flatMap((row) => (row.content.kind === 'action' ? [row.content as ActionRow] : []));
const card = (tool: string, place = -1) => actions.filter((action) => action.tool === tool).at(place)!;
const kind = (action: ActionRow) => kindOf(action, argumentsOf(action));

describe('the card of an action', () => {
  it('has the form of its tool, and the plain one where that is not known or its arguments are none', () => {
    expect(kind(card('search_library'))).toBe('search');
    expect(kind(card('run_command'))).toBe('command');
    expect(kind(card('exa.search'))).toBe('plain');
    expect(kind({ ...card('write_file'), arguments: 'no JSON' })).toBe('plain');
    expect(kind({ ...card('write_file'), state: 'rejected' })).toBe('plain');
    expect(kind({ ...card('update_plan'), arguments: '{"items": [1]}' })).toBe('plain');
    expect(kind({ ...card('search_library'), result: 'Nothing in the library matches.' })).toBe('plain');
  });

  it('shows of arguments that were cut what is there', () => {
    const long = `${card('write_file').arguments.slice(0, 200)}\n… 9412 more bytes`;
    const args = argumentsOf({ arguments: long });
    expect(args?.cut).toBe(true);
    expect(String(args?.fields['content'])).toMatch(/^<!doctype html>/);
  });

  it('tells the passages of a search by their sources', () => {
    const { before, hits } = hitsOf(card('search_library').result);
    expect(before).toMatch(/^4 passages of 3 documents/);
    expect(hits.map((hit) => [hit.source, hit.place])).toEqual([
      ['S1', 'papers/billion-scale-one-machine.pdf, page 7'],
      ['S3', 'papers/graphs-on-disk.pdf, page 6'],
      ['S2', 'notes/index-bench.md'],
      ['S1', 'papers/billion-scale-one-machine.pdf, page 9'],
    ]);
    expect(hits[2]?.text).toBe('the graph in memory wants 412 GB, the lists 96 GB\nlists were built in 52 min, the graph in 9 h');
    expect(hitsOf('[S1] A title with (brackets) (notes/a (1).md, bytes 0-4)\nx').hits[0]).toMatchObject({ title: 'A title with (brackets)', place: 'notes/a (1).md' });
  });

  it('marks the words that were looked for and nothing else', () => {
    expect(marked('The build of builders: rebuild, Build.', 'build a (index')).toEqual(['The ', 'build', ' of builders: rebuild, ', 'Build', '.']);
    expect(marked('a.b', '.* [')).toEqual(['a.b']);
  });

  it('keeps what a command wrote from how it ended', () => {
    expect(outputOf('one\n[2]\ntwo\n[exit status 1, after 2.4 s]\n[1 process that it left behind was ended]')).toEqual({ output: 'one\n[2]\ntwo', notes: ['exit status 1, after 2.4 s', '1 process that it left behind was ended'] });
    expect(outputOf('[exit status 0, after 0.1 s]')).toEqual({ output: '', notes: ['exit status 0, after 0.1 s'] });
  });

  it('says of a result that was kept as a file which, and what it is made of', () => {
    expect(offloadedOf(card('exa.search').result)).toMatchObject({ size: '84 KB of JSON', file: 'results/a41.json' });
    expect(offloadedOf('[2 MB of text: too long to be shown whole. read_result with "result": "a1" shows any part.]\nlines')).toMatchObject({ size: '2 MB of text', file: '', outline: 'lines' });
    expect(offloadedOf('[S1] A title')).toBeNull();
  });

  it('shows a plan beside the one before it', () => {
    const before = planBefore(rows, card('update_plan').action);
    expect(before).toHaveLength(5);
    const { items, gone } = planChanges([{ text: 'a', state: 'done' }, { text: 'c', state: 'open' }], [{ text: 'a', state: 'doing' }, { text: 'b', state: 'open' }]);
    expect(items.map((item) => item.change)).toEqual(['moved', 'new']);
    expect(gone.map((item) => item.text)).toEqual(['b']);
    expect(planChanges([{ text: 'a', state: 'open' }], []).items[0]?.change).toBe('same');
  });

  it('finds again what was recalled, and where it was said', () => {
    const { before, found } = recalledOf(card('recall').result);
    expect(before).toMatch(/^2 of 5/);
    expect(found.map((part) => part.text)).toEqual(['The second pass reads every list once more; with 64 GB it is written in 38 parts.', 'Rank them for a machine with 128 GB.']);
  });

  it('shows of a replacement what differs, and what stands around it', () => {
    expect(replaced('a\nb\nc', 'a\nB\nB2\nc').split('\n')).toEqual(['@@ -1,3 +1,4 @@', ' a', '-b', '+B', '+B2', ' c']);
    expect(replaced('a\na', 'a').split('\n')).toEqual(['@@ -1,2 +1,1 @@', ' a', '-a']);
  });

  it('tells the tasks of helpers', () => {
    expect(tasksOf(argumentsOf({ arguments: '{"tasks": [{"title": "t", "brief": "b"}, null]}' }))).toEqual([{ title: 't', brief: 'b' }, { title: '', brief: '' }]);
  });
});

describe('runs that work for another', () => {
  const line = (run: string, parent: string | null, created_at: number) => ({ run, parent, created_at, title: run, state: 'running' }) as RunLine;
  const lines = [line('c', 'b', 30), line('b', 'a', 20), line('b2', 'a', 20), line('a', null, 10), line('d', 'a', 90)];

  it('are found below it and above it', () => {
    expect(childrenOf('a', lines).map((child) => child.run)).toEqual(['b', 'b2', 'd']);
    expect(familyOf('a', lines)[0]?.children.map((child) => child.line.run)).toEqual(['c']);
    expect(ancestorsOf('b', lines).map((above) => above.run)).toEqual(['a', 'b']);
    expect(ancestorsOf('gone', lines)).toEqual([]);
  });

  it('belong to the row that began them', () => {
    const story = new Story('a', 'a', { minutesAgo: 10 }).action({ tool: 'delegate', brief: '', child: 'b2' }).answer('').action({ tool: 'delegate', brief: '', child: 'd' });
    const [first, , second] = story.rows;
    const children = [line('b', 'a', first!.at + 5), line('b2', 'a', first!.at + 5), line('d', 'a', second!.at + 5), line('e', 'a', second!.at + 5)];
    const begun = delegatedBy(story.rows, children);
    expect(begun.get(first!.key)?.map((child) => child.run)).toEqual(['b', 'b2']);
    expect(begun.get(second!.key)?.map((child) => child.run)).toEqual(['d', 'e']);
  });
});
