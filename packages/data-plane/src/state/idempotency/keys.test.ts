import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { StoreUnavailableError } from '../idempotency-store.ts';
import { LEASE_MS, type Claim } from './claim.ts';
import { CLOCK_SKEW_MS, KEPT_MS } from './decide-key.ts';
import {
  answerOf,
  createKeyWorld,
  newMasterKey,
  settled,
  type KeyNode,
} from './testing/key-world.ts';

/** After so long without a renewal everybody knows that a data plane is gone; a look is at most 200 ms later. */
const MAX_SILENCE_MS = LEASE_MS + CLOCK_SKEW_MS + 200;

/** How an outcome ended up, once it does. */
function watch<T>(promise: Promise<T>): { readonly value: T | undefined } {
  const watched: { value: T | undefined } = { value: undefined };
  void promise.then((value) => void (watched.value = value));
  return watched;
}

describe('the keys of several data planes', () => {
  it('let one of many duplicates run and give all others its answer', async () => {
    const world = createKeyWorld();
    const nodes = [world.node(), world.node(), world.node()];
    const all = Array.from({ length: 33 }, () => nodes.map((node) => node.begin())).flat();
    await world.pass(100);
    const first = await Promise.race(all);
    if (first.kind !== 'run') throw new Error('nobody runs');
    first.claim.completed(answerOf('the answer', ['A', 'b']));
    await world.pass(1000);
    const outcomes = await Promise.all(all);
    expect(outcomes.filter((outcome) => outcome.kind === 'run')).toHaveLength(1);
    const replays = outcomes.flatMap((one) => (one.kind === 'replay' ? [one] : []));
    expect(replays).toHaveLength(98);
    for (const { answer } of replays) {
      expect(answer).toEqual(answerOf('the answer', ['A', 'b']));
    }
  });

  it('hold a key for as long as its request runs', async () => {
    const world = createKeyWorld();
    const claim = await world.node().run();
    const deadlineMs = world.clock.monotonicMs() + 300_000;
    const waiting = watch(world.node().begin({ deadlineMs }));
    await world.pass(200_000);
    expect(waiting.value).toBeUndefined();
    claim.completed(answerOf('late'));
    await world.pass(500);
    expect(waiting.value).toMatchObject({ kind: 'replay', answer: answerOf('late') });
  });

  it('find out within ten seconds that a data plane died, and never run its request again', async () => {
    const world = createKeyWorld();
    const dead = world.node();
    await dead.run({ requestId: 'req_dead' });
    dead.die();
    const deadlineMs = world.clock.monotonicMs() + 60_000;
    const waiting = watch(world.node().begin({ deadlineMs }));
    await world.pass(5000);
    expect(waiting.value).toBeUndefined();
    await world.pass(MAX_SILENCE_MS - 5000);
    const unknown = { kind: 'refuse', why: 'outcome_unknown', firstId: 'req_dead' };
    expect(waiting.value).toEqual(unknown);
    world.clock.advance(KEPT_MS / 2);
    expect(await world.node().begin()).toEqual(unknown);
  });

  it('let just one go on after a death where the route says so', async () => {
    const world = createKeyWorld();
    const dead = world.node();
    await dead.run();
    dead.die();
    const fields = {
      onUnknown: 'forward' as const,
      deadlineMs: world.clock.monotonicMs() + 60_000,
    };
    const nodes = [world.node(), world.node()];
    const waiting = nodes.flatMap((node) =>
      Array.from({ length: 5 }, () => watch(node.begin(fields))),
    );
    await world.pass(MAX_SILENCE_MS + 500);
    const runs = waiting.flatMap(({ value }) => (value?.kind === 'run' ? [value] : []));
    expect(runs.map((run) => run.forwarded)).toEqual([true]);
    runs[0]?.claim.completed(answerOf('second'));
    await world.pass(500);
    expect(waiting.filter(({ value }) => value?.kind === 'replay')).toHaveLength(9);
  });

  it('do not let the answer of one that was taken for dead replace that of its successor', async () => {
    const world = createKeyWorld();
    const paused = world.node();
    const claim = await paused.run();
    paused.die();
    await world.pass(MAX_SILENCE_MS + 100);
    const successor = await world.node().run({ onUnknown: 'forward' });
    paused.store.fault = () => undefined;
    claim.completed(answerOf('of the dead'));
    await world.pass(1000);
    expect(paused.counted.get('lost')).toBe(1);
    successor.completed(answerOf('of the successor'));
    await world.pass(500);
    const outcome = await world.node().begin();
    expect(outcome).toMatchObject({ kind: 'replay', answer: answerOf('of the successor') });
  });

  it('tell the answer of one that was taken for dead, where nobody went on', async () => {
    const world = createKeyWorld();
    const paused = world.node();
    const claim = await paused.run();
    paused.die();
    await world.pass(MAX_SILENCE_MS + 100);
    expect(await world.node().begin()).toMatchObject({ why: 'outcome_unknown' });
    paused.store.fault = () => undefined;
    claim.completed(answerOf('late'));
    await world.pass(500);
    expect(await world.node().begin()).toMatchObject({ kind: 'replay' });
  });

  it('are free again where nothing was sent', async () => {
    const world = createKeyWorld();
    const node = world.node();
    (await node.run()).unsent();
    await world.pass(100);
    expect(node.counted.get('freed')).toBe(1);
    expect((await world.node().begin({ fingerprint: 'b'.repeat(64) })).kind).toBe('run');
  });

  it('are forgotten a day after their request ended, and not before', async () => {
    const world = createKeyWorld();
    const node = world.node();
    (await node.run()).completed(answerOf('old'));
    await settled();
    world.clock.advance(KEPT_MS - 1000);
    expect((await node.begin()).kind).toBe('replay');
    world.clock.advance(1000);
    expect(await node.begin()).toMatchObject({ kind: 'run', forwarded: false });
  });

  it('turn a duplicate away where too many wait, and stop waiting for who leaves', async () => {
    const world = createKeyWorld();
    const node = world.node({ maxWaiting: 2 });
    await node.run({ requestId: 'req_first' });
    const abort = new AbortController();
    const leaves = node.begin({ signal: abort.signal });
    const stays = watch(node.begin());
    await settled();
    expect(await node.begin()).toEqual({ kind: 'in_progress', firstId: 'req_first' });
    expect(node.counted.get('waiter_refused')).toBe(1);
    abort.abort();
    expect(await leaves).toEqual({ kind: 'left' });
    expect(node.keys.waiting).toBe(1);
    await world.pass(10_000);
    expect(stays.value).toEqual({ kind: 'in_progress', firstId: 'req_first' });
    expect(node.keys.waiting).toBe(0);
  });

  it('are waited for at a stop', async () => {
    const world = createKeyWorld();
    const node = world.node();
    const claim = await node.run();
    const drained = watch(node.keys.drain(5000).then(() => 'drained'));
    await world.pass(1000);
    expect(drained.value).toBeUndefined();
    claim.completed(answerOf('x'));
    await settled();
    expect(drained.value).toBe('drained');
    expect(node.keys.held).toBe(0);
  });
});

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
      ...{ kind: 'refuse', why: 'answer_unreadable', firstId: 'req_first' },
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
