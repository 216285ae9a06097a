import { describe, expect, it } from 'vitest';
import { FakeHost } from '$host/fake';
import { SCENES } from '$host/fake/scenes';
import { NOW } from '$host/fake/story';
import { groupRuns, RunsModel } from './runs.svelte';

async function listed(scene: string) {
  const host = new FakeHost(SCENES[scene]!());
  const runs = new RunsModel(host);
  await runs.start();
  return { host, runs };
}

describe('the list of runs', () => {
  it('puts what waits for the person first, then what works, then the days', async () => {
    const { runs } = await listed('list');
    expect(groupRuns(runs.lines, NOW).map((group) => group.name)).toEqual(['Waiting for you', 'At work', 'Today', 'Yesterday', 'This week', 'Earlier']);
    expect(runs.waiting).toBe(2);
  });

  it('updates a run in its place and puts a new one first', async () => {
    const { runs } = await listed('list');
    const before = runs.lines.length;
    runs.merge([{ ...runs.lines[3]!, title: 'changed' }]);
    expect(runs.lines).toHaveLength(before);
    expect(runs.lines[3]!.title).toBe('changed');
    runs.merge([{ ...runs.lines[3]!, run: 'new', created_at: NOW }]);
    expect(runs.lines[0]!.run).toBe('new');
  });

  it('tells no runs from runs that are not read yet', async () => {
    const { runs } = await listed('empty');
    expect([runs.ready, runs.lines.length]).toEqual([true, 0]);
    expect(new RunsModel(new FakeHost(SCENES['loading']!())).ready).toBe(false);
  });

  it('keeps the refusal with its remedy', async () => {
    const { runs } = await listed('error');
    expect(runs.error?.remedy).toContain('--data-dir');
  });
});
