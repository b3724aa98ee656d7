import { describe, expect, it } from '@jest/globals';
import { responseOf, createKeyWorld, newMasterKey } from '../../../test/idempotency/key-world.ts';

describe('a stored response', () => {
  it.each([0, 1, 700, 1000, 5000, 100_000])(
    'of %i bytes is restored from values of at most 1000 bytes',
    async (size) => {
      const world = createKeyWorld(1000);
      const body = Array.from({ length: size }, (_, at) => String.fromCharCode(at % 256)).join('');
      const response = responseOf(body, ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=\u00e9']);
      (await world.node().run()).completed(response);
      await world.pass(100);
      const outcome = await world.node().begin();
      expect(outcome).toMatchObject({
        kind: 'replay',
        response: { ...response, body: expect.anything() },
      });
      expect(outcome.kind === 'replay' && outcome.response.body?.toString('latin1')).toBe(body);
    },
  );

  it('keeps its trailers, and has none if it was stored without', async () => {
    for (const trailers of [['grpc-status', '0', 'X-Sum', '\u00e9'], undefined]) {
      const world = createKeyWorld();
      (await world.node().run()).completed({ ...responseOf('x'), trailers });
      await world.pass(100);
      const outcome = await world.node().begin();
      expect(outcome.kind === 'replay' && outcome.response.trailers).toEqual(trailers);
    }
  });

  it('is not readable in the store', async () => {
    const world = createKeyWorld();
    const response = responseOf('secret body', ['X-Secret', 'secret field']);
    const trailers = ['X-Trailer', 'secret trailer'];
    (await world.node().run()).completed({ ...response, trailers });
    await world.pass(100);
    const stored = Buffer.from((await world.memory.read(world.name)).value ?? []).toString(
      'latin1',
    );
    expect(stored).toContain('"state":"done"');
    for (const part of ['secret', 'X-Secret', 'X-Trailer', '201', 'Made'])
      expect(stored).not.toContain(part);
  });

  it('is decrypted with an older master key, and unreadable without it', async () => {
    const world = createKeyWorld();
    const old = newMasterKey('old');
    const claim = await world.node({ masterKeys: [old] }).run({ requestId: 'req_first' });
    claim.completed(responseOf('x'));
    await world.pass(100);
    const rotated = world.node({ masterKeys: [newMasterKey('new'), old] });
    expect((await rotated.begin()).kind).toBe('replay');
    expect(await world.node({ masterKeys: [newMasterKey('new')] }).begin()).toEqual({
      kind: 'refuse',
      why: 'response_unreadable',
      firstId: 'req_first',
    });
  });

  it('is unreadable under another idempotency key, or after it was changed', async () => {
    const world = createKeyWorld();
    const node = world.node();
    (await node.run()).completed(responseOf('x'));
    await world.pass(100);
    const { value = new Uint8Array() } = await world.memory.read(world.name);
    await world.memory.write('moved', value, 0);
    expect(await node.begin({ name: 'moved' })).toMatchObject({ why: 'response_unreadable' });
    const changed = Buffer.from(value);
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    const { revision } = await world.memory.read(world.name);
    await world.memory.write(world.name, changed, revision);
    expect(await node.begin()).toMatchObject({ why: 'response_unreadable' });
  });
});
