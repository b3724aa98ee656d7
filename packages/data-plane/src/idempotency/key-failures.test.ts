import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { StoreUnavailableError } from './idempotency-store.ts';
import type { Claim } from './claim.ts';
import {
  answerOf,
  createKeyWorld,
  settled,
  type KeyNode,
} from '../../test/idempotency/key-world.ts';

describe('a key whose store fails', () => {
  const once = (node: KeyNode, call: string, fault: 'refused' | 'reply_lost') => {
    let left = 1;
    node.store.fault = (made) => (made === call && left-- > 0 ? fault : undefined);
  };

  it('is claimed where just the reply of the claim was lost', async () => {
    const world = createKeyWorld();
    const node = world.node();
    once(node, 'write', 'reply_lost');
    const claim = await node.run();
    claim.completed(answerOf('x'));
    await world.pass(100);
    expect((await node.begin()).kind).toBe('replay');
  });

  it('is unavailable where the claim is in doubt, and free again soon after', async () => {
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

  it('is counted where its claim is in doubt and the store stays away: nothing was sent under it', async () => {
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
    'is stored with its answer all the same: first try %s',
    async (fault) => {
      const world = createKeyWorld(1000);
      const node = world.node();
      const claim = await node.run();
      let writes = 0;
      node.store.fault = (call) =>
        call === 'write' && (writes += 1) % 2 === 1 ? fault : undefined;
      const body = 'x'.repeat(5000);
      claim.completed(answerOf(body));
      await world.pass(10_000);
      expect(node.counted.get('stored')).toBe(1);
      node.store.fault = () => undefined;
      expect(await node.begin()).toMatchObject({ kind: 'replay', answer: answerOf(body) });
    },
  );

  it.each([
    ['calls that failed', (node: KeyNode) => node.begin().catch(() => undefined)],
    ['a loss that was seen', (node: KeyNode) => void (node.store.losses += 1)],
  ])(
    'is not taken for a dead one’s whose lease ended while the store was away: %s',
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
      claim.completed(answerOf('once'));
      await world.pass(500);
      expect(await duplicate).toMatchObject({ kind: 'replay', answer: answerOf('once') });
    },
  );

  it('is known to be a dead one’s soon after the store is back', async () => {
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

  it('is not given up where a renewal of its own arrives late', async () => {
    const world = createKeyWorld();
    const node = world.node();
    const claim = await node.run();
    const { value = new Uint8Array(), revision } = await world.memory.read(world.name);
    let writes = 0;
    node.store.fault = (call) => {
      if (call === 'write') writes += 1;
      // The renewal is on its way when its time is up, and arrives after the claim was read back.
      if (writes === 1 && call === 'write') return 'refused';
      if (writes === 2 && call === 'write') void world.memory.write(world.name, value, revision);
      return undefined;
    };
    await world.pass(2600);
    claim.completed(answerOf('x'));
    await world.pass(2000);
    expect([node.counted.get('stored'), node.counted.get('lost')]).toEqual([1, undefined]);
  });

  it('is freed all the same where the reply of that was lost', async () => {
    const world = createKeyWorld();
    const node = world.node();
    const claim = await node.run();
    once(node, 'remove', 'reply_lost');
    claim.unsent();
    await world.pass(1000);
    expect(node.counted.get('freed')).toBe(1);
    expect((await node.begin()).kind).toBe('run');
  });

  describe('and loses all it had while the request runs', () => {
    const lost = async () => {
      const world = createKeyWorld();
      const [owner, other] = [world.node(), world.node()];
      const claim = await owner.run({ requestId: 'req_first' });
      owner.store.fault = () => 'refused';
      await world.pass(6000);
      world.memory.loseAll();
      owner.store.fault = () => undefined;
      return { world, claim, owner, other };
    };

    it('is held again soon after the store is back: a duplicate waits', async () => {
      const { world, claim, other } = await lost();
      await world.pass(300);
      const duplicate = other.begin();
      await world.pass(1000);
      claim.completed(answerOf('once'));
      await world.pass(500);
      expect(await duplicate).toMatchObject({ kind: 'replay', firstId: 'req_first' });
    });

    it.each([
      [{ kind: 'replay' }, (claim: Claim) => claim.completed(answerOf('once'))],
      [{ why: 'outcome_unknown' }, (claim: Claim) => claim.outcomeUnknown()],
      [{ kind: 'run' }, (claim: Claim) => claim.unsent()],
    ])('has the end that is told before it is held again: %j', async (expected, end) => {
      const { world, claim, owner, other } = await lost();
      end(claim);
      await world.pass(100);
      expect(owner.counted.get('lost')).toBeUndefined();
      expect(await other.begin()).toMatchObject(expected);
    });

    it('stays with who claimed it at the revision that it had before', async () => {
      const world = createKeyWorld();
      const [owner, other] = [world.node(), world.node()];
      const claim = await owner.run();
      world.memory.loseAll();
      owner.store.losses += 1;
      await other.run({ requestId: 'req_second' });
      claim.completed(answerOf('first'));
      await world.pass(100);
      expect(owner.counted.get('lost')).toBe(1);
    });

    it('stays with who claimed it meanwhile', async () => {
      const { world, claim, owner, other } = await lost();
      const second = await other.run();
      await world.pass(3000);
      claim.completed(answerOf('first'));
      await world.pass(500);
      expect(owner.counted.get('lost')).toBe(1);
      second.completed(answerOf('second'));
      await world.pass(500);
      expect(await other.begin()).toMatchObject({ kind: 'replay', answer: answerOf('second') });
    });
  });

  it('is not claimed where the store has no room, and answered where it was before', async () => {
    const world = createKeyWorld();
    const node = world.node();
    const [begun, done] = [await node.run(), await node.run({ name: 'done' })];
    done.completed(answerOf('of before'));
    await settled();
    node.store.hasRoom = false;
    await expect(node.begin({ name: 'new' })).rejects.toThrow(StoreUnavailableError);
    expect((await world.memory.read('new')).value).toBeUndefined();
    expect(await node.begin({ name: 'done' })).toMatchObject({ kind: 'replay' });
    const duplicate = node.begin();
    begun.completed(answerOf('of one under way'));
    await world.pass(500);
    expect(await duplicate).toMatchObject({ kind: 'replay', answer: answerOf('of one under way') });
  });

  it('tells that its request was answered, and how, where the store has no room for the answer', async () => {
    const world = createKeyWorld();
    const node = world.node();
    const claim = await node.run({ requestId: 'req_first' });
    node.store.fault = (_call, bytes) => (bytes > 1000 ? 'full' : undefined);
    claim.completed(answerOf('x'.repeat(1000), ['Set-Cookie', 'y'.repeat(1000)]));
    await world.pass(500);
    expect(node.counted.get('stored_without_body')).toBe(1);
    const answer = { ...answerOf(undefined), statusText: 'Made' };
    expect(await node.begin()).toMatchObject({ kind: 'replay', firstId: 'req_first', answer });
  });

  it('has an unknown end where the store stays away after its request was sent', async () => {
    const world = createKeyWorld();
    const node = world.node();
    const claim = await node.run({ requestId: 'req_first' });
    node.die();
    claim.completed(answerOf('x'));
    await world.pass(31_000);
    expect(node.counted.get('uncommitted')).toBe(1);
    expect(await world.node().begin()).toMatchObject({
      ...{ kind: 'refuse', why: 'outcome_unknown', firstId: 'req_first' },
    });
  });

  it('does not run while what stands under it cannot be read', async () => {
    const world = createKeyWorld();
    await world.memory.write(world.name, Buffer.from('of another version'), 0);
    await expect(world.node().begin()).rejects.toThrow(StoreUnavailableError);
  });
});

describe('for any order of requests, failures of the store and deaths', () => {
  const ends = ['completed', 'unsent', 'unknown', 'never'] as const;
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('begin' as const), node: fc.nat(2) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        ...{ kind: fc.constant('end' as const), how: fc.constantFrom(...ends) },
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(15_000) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('die' as const), node: fc.nat(2) }),
    },
  );

  it('a key’s request is sent at most once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 15 }),
        fc.array(fc.constantFrom('refused', 'reply_lost', undefined, undefined, undefined), {
          minLength: 7,
          maxLength: 7,
        }),
        async (steps, faults) => {
          const world = createKeyWorld();
          const nodes = [world.node(), world.node(), world.node()];
          let calls = 0;
          for (const node of nodes) node.store.fault = () => faults[calls++ % faults.length];
          const running: Claim[] = [];
          let sent = 0;
          for (const one of steps) {
            if (one.kind === 'begin') {
              void nodes[one.node]?.begin().then(
                (outcome) => {
                  if (outcome.kind !== 'run') return;
                  sent += 1;
                  running.push(outcome.claim);
                },
                () => undefined,
              );
            } else if (one.kind === 'die') nodes[one.node]?.die();
            else if (one.kind === 'pass') await world.pass(one.ms);
            else {
              const claim = running.shift();
              if (one.how === 'completed') claim?.completed(answerOf('x'));
              else if (one.how === 'unknown') claim?.outcomeUnknown();
              else if (one.how === 'unsent' && claim !== undefined) {
                sent -= 1;
                claim.unsent();
              }
            }
            await settled();
            expect(sent).toBeLessThanOrEqual(1);
          }
        },
      ),
      { numRuns: 60 },
    );
  }, 120_000);
});
