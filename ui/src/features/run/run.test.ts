import { describe, expect, it, vi } from 'vitest';
import type { Row, ViewUpdate } from '$host/bindings';
import { FakeHost } from '$host/fake';
import { SCENES } from '$host/fake/scenes';
import { RunModel } from './run.svelte';
import { openQuestion } from './serverForm';

/** A model on a scene, with its frames drawn by hand. */
async function opened(scene: string, run = '01JE7') {
  const frames: FrameRequestCallback[] = [];
  vi.stubGlobal('requestAnimationFrame', (draw: FrameRequestCallback) => frames.push(draw));
  vi.stubGlobal('cancelAnimationFrame', () => undefined);
  const host = new FakeHost(SCENES[scene]!());
  const model = new RunModel(host, run);
  await model.start();
  const frame = () => frames.splice(0).forEach((draw) => draw(0));
  frame();
  return { host, model, frame };
}

const change = (rows: Row[]): ViewUpdate => ({ kind: 'change', change: { seq: 99, head: null, rows } });

describe('a run on the screen', () => {
  it('shows the snapshot', async () => {
    const { model } = await opened('accepted');
    expect(model.head?.state).toBe('accepted');
    expect(model.rows.length).toBeGreaterThan(10);
  });

  it('puts new rows at the end and replaces rows of the same key in place', async () => {
    const { host, model, frame } = await opened('spliced');
    const before = model.rows;
    const replaced = { ...before[2]!, seq: 400 };
    const fresh = { ...before[0]!, key: 'fresh', seq: 401 };
    host.send('01JE7', [change([replaced, fresh])]);
    frame();
    expect(model.rows).toHaveLength(before.length + 1);
    expect(model.rows[2]).toBe(replaced);
    expect(model.rows.at(-1)).toBe(fresh);
  });

  it('applies what arrives in one frame at once', async () => {
    const { host, model, frame } = await opened('spliced');
    const before = model.rows.length;
    for (let number = 0; number < 100; number += 1) host.send('01JE7', [change([{ ...model.rows[0]!, key: `n${number}` }])]);
    expect(model.rows).toHaveLength(before);
    frame();
    expect(model.rows).toHaveLength(before + 100);
  });

  it('applies without a frame when too much waits', async () => {
    const { host, model } = await opened('spliced');
    const before = model.rows.length;
    for (let number = 0; number < 256; number += 1) host.send('01JE7', [change([{ ...model.rows[0]!, key: `n${number}` }])]);
    expect(model.rows).toHaveLength(before + 256);
  });

  it('drops streaming text when the next row is on disk', async () => {
    const { host, model, frame } = await opened('streaming');
    host.pass('01JE7');
    frame();
    expect(model.provisional?.text).toContain('three');
    host.send('01JE7', [{ kind: 'change', change: { seq: 90, head: model.head, rows: [] } }]);
    frame();
    expect(model.provisional).not.toBeNull();
    host.send('01JE7', [change([{ ...model.rows[0]!, key: 'next' }])]);
    frame();
    expect(model.provisional).toBeNull();
  });

  it('holds what running actions show, and drops it when they show nothing any more', async () => {
    const { host, model, frame } = await opened('spliced');
    const live = { key: model.rows[0]!.key, doing: 'starting the box', output: 'one\ntwo\n' };
    host.send('01JE7', [{ kind: 'acting', actions: [live] }]);
    frame();
    expect(model.acting.get(live.key)).toEqual(live);
    expect(model.making).toBe('');
    host.send('01JE7', [{ kind: 'acting', actions: [{ key: 'box', doing: 'building the image', output: '' }] }]);
    frame();
    expect(model.making).toBe('building the image');
    host.send('01JE7', [{ kind: 'acting', actions: [] }]);
    frame();
    expect(model.acting.size).toBe(0);
  });

  it('knows which actions wait for an answer', async () => {
    const { host, model, frame } = await opened('waiting');
    expect(model.asked.map((asked) => asked.tool)).toEqual(['slack.post_message']);
    await host.approveAction('01JE7', model.asked[0]!.action, { seen: model.asked[0]!.seen, edit: null, always: null });
    frame();
    expect(model.asked).toEqual([]);
  });

  it('tells of an answer from somewhere else, and not of its own', async () => {
    const { host, model, frame } = await opened('waiting');
    const asked = model.asked[0]!;
    host.answerElsewhere('01JE7', asked.action, 'refused', 'command');
    frame();
    expect(model.elsewhere).toMatchObject({ what: 'slack.post_message', said: { words: 'refused', from: 'command' } });

    const own = await opened('waiting');
    own.model.answers(own.model.asked[0]!.key);
    own.host.answerElsewhere('01JE7', own.model.asked[0]!.action, 'approved', 'window');
    own.frame();
    expect(own.model.asked).toEqual([]);
    expect(own.model.elsewhere).toBeNull();
  });

  it('tells of the answer that won when its own came second', async () => {
    const { host, model, frame } = await opened('waiting');
    model.answers(model.asked[0]!.key);
    host.answerElsewhere('01JE7', model.asked[0]!.action, 'approved', 'api');
    frame();
    expect(model.elsewhere?.said?.from).toBe('api');
  });

  it('tells that a result was accepted from somewhere else', async () => {
    const { host, model, frame } = await opened('accepting');
    await host.acceptResult('01JE7', true, '');
    frame();
    expect(model.head?.acceptance).toBeNull();
    expect(model.elsewhere).toMatchObject({ what: 'The result', said: { words: 'accepted' } });
  });

  it('holds questions and uncertain actions among what waits', async () => {
    expect((await opened('asking')).model.asked.map((asked) => asked.state)).toEqual(['asks_you']);
    expect((await opened('uncertain')).model.asked.map((asked) => asked.state)).toEqual(['uncertain']);
  });

  it('goes on to the next question of a server, and tells of one that was answered from somewhere else', async () => {
    const { host, model, frame } = await opened('server-form');
    const asked = model.asked[0]!;
    model.answers(asked.key);
    await host.answerServer('01JE7', asked.action, 1, 'declined', '');
    frame();
    expect(openQuestion(model.asked[0]!)?.number).toBe(2);
    expect(model.elsewhere).toBeNull();
    // This window has said nothing of the second one.
    await host.answerServer('01JE7', asked.action, 2, 'declined', '');
    frame();
    expect(model.asked).toEqual([]);
    expect(model.elsewhere).toMatchObject({ what: 'cluster.submit', said: { words: 'declined the server' } });
  });

  it('pages earlier rows before the first without a gap or a repeat', async () => {
    const { model } = await opened('paged');
    const whole = SCENES['huge']!().stories[0]!.rows.map((row) => row.key);
    for (let page = 0; page < 6; page += 1) await model.loadEarlier();
    expect(model.earlier).toBe(0);
    expect(model.rows.map((row) => row.key)).toEqual(whole);
    const calls = model.rows.length;
    await model.loadEarlier();
    expect(model.rows).toHaveLength(calls);
  });

  it('holds only so many rows of a run that goes on and on, and reads the rest again', async () => {
    const { host, model, frame } = await opened('huge');
    const grow = (from: number, number: number) => {
      const rows = Array.from({ length: number }, (_, place) => ({ ...model.rows[0]!, key: `n${from + place}`, seq: 100_000 + from + place }));
      host.send('01JE7', [change(rows)]);
      frame();
    };
    grow(0, 900);
    expect([model.rows.length, model.earlier]).toEqual([5_900, 0]);
    grow(900, 200);
    expect([model.rows.length, model.earlier]).toEqual([4_000, 2_100]);
    const gone = host.stories.get('01JE7')!.rows[3]!;
    host.send('01JE7', [change([gone])]);
    frame();
    expect(model.rows.at(-1)?.key).toBe('n1099');
    await model.loadEarlier();
    expect([model.rows.length, model.earlier]).toEqual([4_500, 1_600]);
  });

  it('lets no row go while the person reads further up', async () => {
    const { host, model, frame } = await opened('huge');
    model.atEnd = false;
    host.send('01JE7', [change(Array.from({ length: 1_500 }, (_, place) => ({ ...model.rows[0]!, key: `n${place}`, seq: 100_000 + place })))]);
    frame();
    expect(model.rows).toHaveLength(6_500);
  });

  it('says why a run can’t be shown', async () => {
    const { model } = await opened('error');
    expect(model.problem?.message).toContain('no run 01JE7');
    expect(model.problem?.remedy).not.toBe('');
  });

  it('shows no text that comes after the run has stopped, and none that is empty', async () => {
    const late: ViewUpdate = { kind: 'provisional', text: 'Done.', thinking: '' };
    const ended = await opened('accepted');
    ended.host.send('01JE7', [late]);
    ended.frame();
    expect(ended.model.provisional).toBeNull();
    const going = await opened('streaming');
    going.host.send('01JE7', [late]);
    going.frame();
    expect(going.model.provisional?.text).toBe('Done.');
    going.host.send('01JE7', [{ kind: 'provisional', text: '', thinking: '' }]);
    going.frame();
    expect(going.model.provisional).toBeNull();
  });

  it('hears nothing more after its end', async () => {
    const { host, model, frame } = await opened('streaming');
    model.end();
    host.pass('01JE7');
    frame();
    expect(model.provisional).toBeNull();
  });
});
