import { describe, expect, it } from '@jest/globals';
import { LEASE_MS } from './claim.ts';
import { CLOCK_SKEW_MS, KEPT_MS } from './decide-key.ts';
import { answerOf, createKeyWorld, settled } from '../../test/idempotency/key-world.ts';
import { StoreUnavailableError } from './idempotency-store.ts';

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

  it('do not let a request begin whose data plane stood still for as long as its lease', async () => {
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

  it('are certain to be their claim’s as long as its lease is renewed, and never again after', async () => {
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
