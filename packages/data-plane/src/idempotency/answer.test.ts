import { describe, expect, it } from '@jest/globals';
import { answerOf, createKeyWorld, newMasterKey } from '../../test/idempotency/key-world.ts';

describe('a stored answer', () => {
  it.each([0, 1, 700, 1000, 5000, 100_000])(
    'of %i bytes comes back whole from values of 1000 bytes at most',
    async (size) => {
      const world = createKeyWorld(1000);
      const body = Array.from({ length: size }, (_, at) => String.fromCharCode(at % 256)).join('');
      const answer = answerOf(body, ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=\u00e9']);
      (await world.node().run()).completed(answer);
      await world.pass(100);
      const outcome = await world.node().begin();
      expect(outcome).toMatchObject({
        kind: 'replay',
        answer: { ...answer, body: expect.anything() },
      });
      expect(outcome.kind === 'replay' && outcome.answer.body?.toString('latin1')).toBe(body);
    },
  );

  it('shows nothing of itself in the store', async () => {
    const world = createKeyWorld();
    (await world.node().run()).completed(answerOf('secret body', ['X-Secret', 'secret field']));
    await world.pass(100);
    const stored = Buffer.from((await world.memory.read(world.name)).value ?? []).toString(
      'latin1',
    );
    expect(stored).toContain('"state":"done"');
    for (const part of ['secret', 'X-Secret', '201', 'Made']) expect(stored).not.toContain(part);
  });

  it('opens with an older master key, and is refused without it', async () => {
    const world = createKeyWorld();
    const old = newMasterKey('old');
    const claim = await world.node({ masterKeys: [old] }).run({ requestId: 'req_first' });
    claim.completed(answerOf('x'));
    await world.pass(100);
    const rotated = world.node({ masterKeys: [newMasterKey('new'), old] });
    expect((await rotated.begin()).kind).toBe('replay');
    expect(await world.node({ masterKeys: [newMasterKey('new')] }).begin()).toEqual({
      kind: 'refuse',
      why: 'answer_unreadable',
      firstId: 'req_first',
    });
  });

  it('opens under no other key, and not after it was changed', async () => {
    const world = createKeyWorld();
    const node = world.node();
    (await node.run()).completed(answerOf('x'));
    await world.pass(100);
    const { value = new Uint8Array() } = await world.memory.read(world.name);
    await world.memory.write('moved', value, 0);
    expect(await node.begin({ name: 'moved' })).toMatchObject({ why: 'answer_unreadable' });
    const changed = Buffer.from(value);
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    const { revision } = await world.memory.read(world.name);
    await world.memory.write(world.name, changed, revision);
    expect(await node.begin()).toMatchObject({ why: 'answer_unreadable' });
  });
});
