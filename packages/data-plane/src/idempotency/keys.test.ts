import { describe, expect, it } from '@jest/globals';
import type { Claim } from './claim.ts';
import { LEASE_MS } from './store/claim-values.ts';
import { CLOCK_SKEW_MS, KEPT_MS } from './decide-key.ts';
import { responseOf, createKeyWorld, settled } from '../../test/idempotency/key-world.ts';
import { HeldBytes } from '../nats/held-bytes.ts';
import { StoreUnavailableError } from './store/idempotency-store.ts';

/** After this time without a renewal all data planes see that one is dead; a read follows within 200 ms. */
const MAX_SILENCE_MS = LEASE_MS + CLOCK_SKEW_MS + 200;

const BUSY = responseOf('busy', [], 429);

/** The result of a promise, once it has settled. */
function watch<T>(promise: Promise<T>): { readonly value: T | undefined } {
  const watched: { value: T | undefined } = { value: undefined };
  void promise.then((value) => void (watched.value = value));
  return watched;
}

describe('the keys of several data planes', () => {
  it('let one of many duplicates run and give all others its response', async () => {
    const world = createKeyWorld();
    const nodes = [world.node(), world.node(), world.node()];
    const all = Array.from({ length: 33 }, () => nodes.map((node) => node.begin())).flat();
    await world.pass(100);
    const first = await Promise.race(all);
    if (first.kind !== 'run') throw new Error('no request runs');
    first.claim.completed(responseOf('the response', ['A', 'b']));
    await world.pass(1000);
    const outcomes = await Promise.all(all);
    expect(outcomes.filter((outcome) => outcome.kind === 'run')).toHaveLength(1);
    const replays = outcomes.flatMap((one) => (one.kind === 'replay' ? [one] : []));
    expect(replays).toHaveLength(98);
    for (const { response } of replays) {
      expect(response).toEqual(responseOf('the response', ['A', 'b']));
    }
  });

  it('stay claimed while their request runs', async () => {
    const world = createKeyWorld();
    const claim = await world.node().run();
    const deadlineMs = world.clock.monotonicMs() + 300_000;
    const waiting = watch(world.node().begin({ deadlineMs }));
    await world.pass(200_000);
    expect(waiting.value).toBeUndefined();
    claim.completed(responseOf('late'));
    await world.pass(500);
    expect(waiting.value).toMatchObject({ kind: 'replay', response: responseOf('late') });
  });

  it('show within ten seconds that a data plane has died, and never repeat its request', async () => {
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

  it('let only one request run after a death if the route allows it', async () => {
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
    expect(runs.map((run) => run.after)).toEqual(['unknown']);
    runs[0]?.claim.completed(responseOf('second'));
    await world.pass(500);
    expect(waiting.filter(({ value }) => value?.kind === 'replay')).toHaveLength(9);
  });

  it('keep the response of a successor if the former owner was alive after all', async () => {
    const world = createKeyWorld();
    const paused = world.node();
    const claim = await paused.run();
    paused.die();
    await world.pass(MAX_SILENCE_MS + 100);
    const successor = await world.node().run({ onUnknown: 'forward' });
    paused.store.fault = () => undefined;
    claim.completed(responseOf('of the dead'));
    await world.pass(1000);
    expect(paused.counted.get('lost')).toBe(1);
    successor.completed(responseOf('of the successor'));
    await world.pass(500);
    const outcome = await world.node().begin();
    expect(outcome).toMatchObject({ kind: 'replay', response: responseOf('of the successor') });
  });

  it('do not let a request start after its data plane was blocked longer than its lease', async () => {
    const world = createKeyWorld();
    const paused = world.node();
    paused.store.fault = () => {
      world.clock.advance(LEASE_MS);
      return undefined;
    };
    const begun = paused.begin();
    paused.store.fault = () => undefined;
    await expect(begun).rejects.toThrow(StoreUnavailableError);
    await settled();
    expect((await world.node().begin()).kind).toBe('run');
  });

  it('are held for certain while the lease is renewed, and not after it has ended', async () => {
    const world = createKeyWorld();
    const node = world.node();
    const claim = await node.run();
    await world.pass(3 * LEASE_MS);
    expect(claim.held).toBe(true);
    node.die();
    await world.pass(LEASE_MS);
    expect(claim.held).toBe(false);
    node.store.fault = () => undefined;
    await world.pass(LEASE_MS);
    expect(claim.held).toBe(false);
  });

  it('give the response of an owner that was alive after all, if no other request ran', async () => {
    const world = createKeyWorld();
    const paused = world.node();
    const claim = await paused.run();
    paused.die();
    await world.pass(MAX_SILENCE_MS + 100);
    expect(await world.node().begin()).toMatchObject({ why: 'outcome_unknown' });
    paused.store.fault = () => undefined;
    claim.completed(responseOf('late'));
    await world.pass(500);
    expect(await world.node().begin()).toMatchObject({ kind: 'replay' });
  });

  it('are free again if nothing was sent', async () => {
    const world = createKeyWorld();
    const node = world.node();
    (await node.run()).unsent();
    await world.pass(100);
    expect(node.counted.get('freed')).toBe(1);
    expect((await world.node().begin({ fingerprint: 'b'.repeat(64) })).kind).toBe('run');
  });

  it('let the same request run again after a repeatable end, and no other', async () => {
    const world = createKeyWorld();
    const [one, other] = [world.node(), world.node()];
    for (const after of ['nothing', 'repeatable', 'repeatable']) {
      const outcome = await one.begin();
      expect(outcome).toMatchObject({ kind: 'run', after });
      if (outcome.kind === 'run') outcome.claim.completed(responseOf('busy', [], 429), true);
      await settled();
      expect(await other.begin({ fingerprint: 'b'.repeat(64) })).toMatchObject({ why: 'conflict' });
    }
    expect(one.counted.get('repeatable')).toBe(3);
    (await other.run()).completed(responseOf('done'));
    await settled();
    expect(await one.begin()).toMatchObject({ kind: 'replay', response: responseOf('done') });
  });

  it('give duplicates that wait the response of a repeatable end, and let one run if it was not kept', async () => {
    const world = createKeyWorld();
    const nodes = [world.node(), world.node(), world.node()];
    const claim = await nodes[0]?.run();
    const waiting = nodes.flatMap((node) => Array.from({ length: 5 }, () => watch(node.begin())));
    await world.pass(500);
    claim?.completed(responseOf('busy', [], 429), true);
    await world.pass(500);
    for (const { value } of waiting) {
      expect(value).toMatchObject({ kind: 'replay', response: responseOf('busy', [], 429) });
    }

    const again = await nodes[1]?.run();
    const next = nodes.flatMap((node) => Array.from({ length: 5 }, () => watch(node.begin())));
    await world.pass(500);
    again?.completed(responseOf(undefined, [], 429), true);
    await world.pass(500);
    const runs = next.flatMap(({ value }) => (value?.kind === 'run' ? [value] : []));
    expect(runs.map((run) => run.after)).toEqual(['repeatable']);
    runs[0]?.claim.completed(responseOf('done'));
    await world.pass(500);
    expect(next.filter(({ value }) => value?.kind === 'replay')).toHaveLength(14);
  });

  it.each([
    ['nothing was sent', (claim: Claim) => claim.unsent()],
    ['the repeated run ended so again', (claim: Claim) => claim.completed(BUSY, true)],
  ])('stay what they were if %s', async (_how, end) => {
    const world = createKeyWorld();
    const node = world.node();
    const other = { fingerprint: 'b'.repeat(64) };
    (await node.run({ requestId: 'req_busy' })).completed(BUSY, true);
    await settled();
    end(await node.run());
    await settled();
    expect(await node.begin(other)).toMatchObject({ why: 'conflict' });
    const last = await node.run();
    last.outcomeUnknown();
    await settled();
    const unknown = await node.begin();
    expect(unknown).toMatchObject({ kind: 'refuse', why: 'outcome_unknown' });

    // A run that the route allows says nothing about the one before.
    end(await node.run({ onUnknown: 'forward', requestId: 'req_forwarded' }));
    await settled();
    expect(await node.begin()).toEqual(unknown);
    expect(await node.begin(other)).toMatchObject({ why: 'conflict' });
  });

  it('keep an unknown outcome if the claim of its repetition was stored without an answer', async () => {
    const world = createKeyWorld();
    const node = world.node();
    (await node.run({ requestId: 'req_first' })).outcomeUnknown();
    await settled();
    const faults = ['reply_lost', 'refused'] as const;
    let changes = 0;
    node.store.fault = (call) => {
      if (call === 'write') changes += 1;
      return changes === 2 ? faults[call === 'write' ? 0 : 1] : undefined;
    };
    await expect(node.begin({ onUnknown: 'forward' })).rejects.toThrow(StoreUnavailableError);
    node.store.fault = () => undefined;
    await world.pass(2000);
    const unknown = { kind: 'refuse', why: 'outcome_unknown', firstId: 'req_first' };
    expect(await node.begin()).toEqual(unknown);
  });

  it('expire a day after their request has ended, not before', async () => {
    const world = createKeyWorld();
    const node = world.node();
    (await node.run()).completed(responseOf('old'));
    await settled();
    world.clock.advance(KEPT_MS - 1000);
    expect((await node.begin()).kind).toBe('replay');
    world.clock.advance(1000);
    expect(await node.begin()).toMatchObject({ kind: 'run', after: 'expiry' });
  });

  it('refuse a duplicate if too many wait, and end the wait of a caller that leaves', async () => {
    const world = createKeyWorld();
    const node = world.node({ maxWaiting: 2 });
    await node.run({ requestId: 'req_first' });
    const abort = new AbortController();
    const leaves = node.begin({
      hasLeft: () => abort.signal.aborted,
      whenLeft: (listener) => void (abort.signal.onabort = listener ?? null),
    });
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

  it('are drained at a stop', async () => {
    const world = createKeyWorld();
    const node = world.node();
    const claim = await node.run();
    const drained = watch(node.keys.drain(5000).then(() => 'drained'));
    await world.pass(1000);
    expect(drained.value).toBeUndefined();
    claim.completed(responseOf('x'));
    await settled();
    expect(drained.value).toBe('drained');
    expect(node.keys.held).toBe(0);
  });
});

describe('a key that was freed', () => {
  it('counts towards the bound of its route once, however often it is claimed again', async () => {
    const world = createKeyWorld();
    const node = world.node();
    const held = new HeldBytes(60_000);
    node.store.stored = (_owner, bytes, claim, wasFreed) => {
      held.wrote('route', bytes, 0, claim, wasFreed);
    };
    node.store.freed = (claim) => {
      held.forgot(claim);
    };
    let once = 0;
    for (let run = 0; run < 10; run += 1) {
      (await node.run()).unsent();
      await world.pass(100);
      once ||= held.of('route', 0);
    }
    expect(once).toBeGreaterThan(0);
    expect(held.of('route', 0)).toBeLessThan(2 * once);
  });

  it('is new to the bound of its route', async () => {
    const world = createKeyWorld();
    const node = world.node();
    (await node.run()).unsent();
    await world.pass(100);
    node.store.bound = 'route';
    await expect(node.begin()).rejects.toThrow('the route has as many entries');
    node.store.bound = undefined;
    (await node.run()).completed(responseOf('busy', [], 429), true);
    await world.pass(100);
    // This one has its room.
    node.store.bound = 'route';
    expect(await node.begin()).toMatchObject({ kind: 'run' });
  });
});

it('a key that is repeated often counts towards the bound of its route once', async () => {
  const world = createKeyWorld();
  const node = world.node();
  let bytes = 0;
  node.store.stored = (_owner, added) => void (bytes += added);
  (await node.run()).completed(responseOf('busy', [], 429), true);
  await world.pass(100);
  const first = bytes;
  for (let run = 0; run < 10; run += 1) {
    (await node.run()).completed(responseOf('busy', [], 429), true);
    await world.pass(100);
  }
  expect([first > 0, bytes]).toEqual([true, first]);
  (await node.run()).completed(responseOf('done'));
  await world.pass(100);
  expect(bytes).toBeGreaterThan(first);
});
