import { describe, expect, it } from '@jest/globals';
import { StoreUnavailableError } from './store/idempotency-store.ts';
import {
  responseOf,
  createKeyWorld,
  settled,
  type KeyNode,
} from '../../test/idempotency/key-world.ts';

describe('a key whose store fails', () => {
  const once = (node: KeyNode, call: string, fault: 'refused' | 'reply_lost') => {
    let left = 1;
    node.store.fault = (made) => (made === call && left-- > 0 ? fault : undefined);
  };

  it('is claimed if only the reply of the claim was lost', async () => {
    const world = createKeyWorld();
    const node = world.node();
    once(node, 'write', 'reply_lost');
    const claim = await node.run();
    claim.completed(responseOf('x'));
    await world.pass(100);
    expect((await node.begin()).kind).toBe('replay');
  });

  it('is unavailable while the result of the claim is unknown, and free soon after', async () => {
    const world = createKeyWorld();
    const node = world.node();
    node.store.fault = (call) => (call === 'write' ? 'reply_lost' : 'refused');
    await expect(node.begin()).rejects.toThrow(StoreUnavailableError);
    expect((await world.memory.read(world.name)).value).toBeDefined();
    await world.pass(2000);
    node.store.fault = () => undefined;
    await world.pass(1500);
    expect((await world.node().begin()).kind).toBe('run');
    expect(node.counted.get('claim_abandoned')).toBeUndefined();
  });

  it('is counted as abandoned if the result of its claim stays unknown; nothing was sent', async () => {
    const world = createKeyWorld();
    const node = world.node();
    node.store.fault = (call) => (call === 'write' ? 'reply_lost' : 'refused');
    await expect(node.begin()).rejects.toThrow(StoreUnavailableError);
    await world.pass(29_000);
    expect(node.counted.get('claim_abandoned')).toBeUndefined();
    await world.pass(2000);
    expect(node.counted.get('claim_abandoned')).toBe(1);
  });

  it.each(['refused', 'reply_lost'] as const)(
    'is stored with its response after a first try that was %s',
    async (fault) => {
      const world = createKeyWorld(1000);
      const node = world.node();
      const claim = await node.run();
      let writes = 0;
      node.store.fault = (call) =>
        call === 'write' && (writes += 1) % 2 === 1 ? fault : undefined;
      const body = 'x'.repeat(5000);
      claim.completed(responseOf(body));
      await world.pass(10_000);
      expect(node.counted.get('stored')).toBe(1);
      node.store.fault = () => undefined;
      expect(await node.begin()).toMatchObject({ kind: 'replay', response: responseOf(body) });
    },
  );

  it.each([
    ['it noticed by failed calls', (node: KeyNode) => node.begin().catch(() => undefined)],
    ['it noticed by a lost connection', (node: KeyNode) => void (node.store.losses += 1)],
  ])(
    'is not taken from a live owner whose lease ended during an outage of the store; the other node: %s',
    async (_how, meanwhile) => {
      const world = createKeyWorld();
      const [owner, other] = [world.node(), world.node()];
      const claim = await owner.run();
      for (const node of [owner, other]) node.store.fault = () => 'refused';
      await world.pass(15_000);
      await meanwhile(other);
      for (const node of [owner, other]) node.store.fault = () => undefined;
      const duplicate = other.begin({ onUnknown: 'forward' });
      await world.pass(3000);
      claim.completed(responseOf('once'));
      await world.pass(500);
      expect(await duplicate).toMatchObject({ kind: 'replay', response: responseOf('once') });
    },
  );

  it('is taken from a dead owner soon after the store is back', async () => {
    const world = createKeyWorld();
    const [owner, other] = [world.node(), world.node()];
    await owner.run();
    owner.die();
    other.store.fault = () => 'refused';
    await expect(other.begin()).rejects.toThrow(StoreUnavailableError);
    await world.pass(15_000);
    other.store.fault = () => undefined;
    const next = other.begin();
    await world.pass(9000);
    expect(await next).toMatchObject({ kind: 'refuse', why: 'outcome_unknown' });
  });

  it('is kept if a renewal of its own arrives late', async () => {
    const world = createKeyWorld();
    const node = world.node();
    const claim = await node.run();
    const { value = new Uint8Array(), revision } = await world.memory.read(world.name);
    let writes = 0;
    node.store.fault = (call) => {
      if (call === 'write') writes += 1;
      // The renewal times out on its way, and arrives after the claim was read back.
      if (writes === 1 && call === 'write') return 'refused';
      if (writes === 2 && call === 'write') void world.memory.write(world.name, value, revision);
      return undefined;
    };
    await world.pass(2600);
    claim.completed(responseOf('x'));
    await world.pass(2000);
    expect([node.counted.get('stored'), node.counted.get('lost')]).toEqual([1, undefined]);
  });

  it('is freed if only the reply of that was lost', async () => {
    const world = createKeyWorld();
    const node = world.node();
    const claim = await node.run();
    once(node, 'remove', 'reply_lost');
    claim.unsent();
    await world.pass(1000);
    expect(node.counted.get('freed')).toBe(1);
    expect((await node.begin()).kind).toBe('run');
  });

  it('is not claimed if the store is full; a key that was claimed before is still answered', async () => {
    const world = createKeyWorld();
    const node = world.node();
    const [begun, done] = [await node.run(), await node.run({ name: 'done' })];
    done.completed(responseOf('of a former one'));
    await settled();
    node.store.bound = 'bucket';
    await expect(node.begin({ name: 'new' })).rejects.toThrow(StoreUnavailableError);
    expect((await world.memory.read('new')).value).toBeUndefined();
    expect(await node.begin({ name: 'done' })).toMatchObject({ kind: 'replay' });
    const duplicate = node.begin();
    begun.completed(responseOf('of one in flight'));
    await world.pass(500);
    expect(await duplicate).toMatchObject({
      kind: 'replay',
      response: responseOf('of one in flight'),
    });
  });

  it('keeps the status of the response if the store has no room for its body', async () => {
    const world = createKeyWorld();
    const node = world.node();
    const claim = await node.run({ requestId: 'req_first' });
    node.store.fault = (_call, bytes) => (bytes > 1000 ? 'full' : undefined);
    claim.completed(responseOf('x'.repeat(1000), ['Set-Cookie', 'y'.repeat(1000)]));
    await world.pass(500);
    expect(node.counted.get('stored_without_body')).toBe(1);
    const response = { ...responseOf(undefined), statusText: 'Made' };
    expect(await node.begin()).toMatchObject({ kind: 'replay', firstId: 'req_first', response });
  });

  it('has an unknown outcome if the store stays unavailable after its request was sent', async () => {
    const world = createKeyWorld();
    const node = world.node();
    const claim = await node.run({ requestId: 'req_first' });
    node.die();
    claim.completed(responseOf('x'));
    await world.pass(31_000);
    expect(node.counted.get('uncommitted')).toBe(1);
    expect(await world.node().begin()).toMatchObject({
      kind: 'refuse',
      why: 'outcome_unknown',
      firstId: 'req_first',
    });
  });

  it('is unavailable while its entry in the store cannot be parsed', async () => {
    const world = createKeyWorld();
    await world.memory.write(world.name, Buffer.from('of another version'), 0);
    await expect(world.node().begin()).rejects.toThrow(StoreUnavailableError);
  });
});
