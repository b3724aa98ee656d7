import { describe, expect, it } from '@jest/globals';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { Registry } from 'prom-client';
import type { PublicationTarget } from '../publish/store/publication-targets.ts';
import { DataPlanes } from './data-planes.ts';
import { MAX_WAITING, RolloutWaits } from './rollout-waits.ts';
import { createWaitMetrics } from './wait-metrics.ts';

const never = new AbortController().signal;

/** Waits over a store whose publications the test sets; it counts its queries. */
function setUp() {
  const clock = manualClock();
  const dataPlanes = new DataPlanes();
  dataPlanes.restored();
  const store = { targets: [] as PublicationTarget[], published: 0, queries: 0, connected: true };
  let answer = Promise.resolve();
  let targets = () => Promise.resolve();
  const waits = new RolloutWaits({
    dataPlanes,
    clock,
    log: createLogger('test', 'silent'),
    metrics: createWaitMetrics(new Registry()),
    readTargets: () => targets().then(() => store.targets),
    async readPublished(targets) {
      store.queries += 1;
      await answer;
      if (store.published === 0) return [];
      return targets.map((target) => ({ ...target, version: store.published }));
    },
    isConnected: () => store.connected,
  });
  const settle = async () => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  return {
    clock,
    dataPlanes,
    store,
    waits,
    settle,
    pending: () => (store.targets = [{ environment: 'production', lastId: '41', version: 3 }]),
    serve: (id: string, version: number) =>
      dataPlanes.take(
        heartbeatOf(id, { config_versions: { production: version } }),
        clock.monotonicMs(),
      ),
    /** Delays the read of the targets until the returned function is called. */
    holdTargets: () => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      targets = () => promise;
      return () => resolve(undefined);
    },
    /** Delays the answers of the store until the returned function is called. */
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      answer = promise.then(() => undefined);
      return () => resolve(undefined);
    },
  };
}

describe('a wait', () => {
  it('ends when the change is published and every live data plane reports that it serves it', async () => {
    const { store, waits, pending, serve, settle } = setUp();
    pending();
    serve('a', 3);
    serve('b', 3);
    let result: string | undefined;
    const wait = waits.wait(['production'], 5000, never).then((end) => (result = end));
    await settle();
    store.published = 4;
    waits.published();
    await settle();
    serve('a', 4);
    await settle();
    expect(result).toBeUndefined();
    serve('b', 4);
    await wait;
    expect(result).toBe('applied');
  });

  it('ends at once if every data plane already serves every change', async () => {
    const { store, waits, serve } = setUp();
    store.targets = [{ environment: 'production', lastId: null, version: 3 }];
    serve('a', 3);
    expect(await waits.wait(['production'], 5000, never)).toBe('applied');
    expect(store.queries).toBe(0);
  });

  it('says at once that a data plane cannot use what was written, and does not blame a write of something else', async () => {
    const { store, clock, dataPlanes, waits, serve } = setUp();
    store.targets = [{ environment: 'production', lastId: null, version: 3 }];
    serve('a', 3);
    const element = { environment: 'production', kind: 'route', name: 'r', reason: 'x' } as const;
    const beat = (count: number) =>
      dataPlanes.take(
        heartbeatOf('b', {
          config_versions: { production: 3 },
          unusable_counts: { production: count, development: 1 },
          unusable_elements: [{ ...element, id: 'rte_1' }],
        }),
        clock.monotonicMs(),
      );
    beat(1);
    const ended = (written?: string[]) => waits.wait(['production'], 5000, never, written);
    expect(await ended(['rte_1'])).toBe('configuration_unusable');
    expect(await ended(['rte_2'])).toBe('applied');
    expect(await ended([])).toBe('applied');
    expect(await ended()).toBe('configuration_unusable');
    // The heartbeat has no room for all of them, so it may be one of the others.
    beat(2);
    expect(await ended(['rte_2'])).toBe('configuration_unusable');
    expect(await ended([])).toBe('applied');
    serve('b', 3);
    expect(await ended()).toBe('applied');
  });

  it('says why it timed out', async () => {
    const { store, clock, waits, pending, serve, settle } = setUp();
    const ended = async () => {
      const wait = waits.wait(['production'], 900, never);
      await settle();
      clock.advance(900);
      return wait;
    };
    pending();
    expect(await ended()).toBe('not_published');
    store.published = 4;
    expect(await ended()).toBe('no_live_data_planes');
    serve('a', 3);
    expect(await ended()).toBe('data_planes_behind');
    serve('a', 4);
    expect(await ended()).toBe('applied');
    store.connected = false;
    expect(await ended()).toBe('data_planes_behind');
  });

  it('does not end as applied if it times out before its targets are read', async () => {
    const { store, clock, waits, serve, settle, holdTargets } = setUp();
    store.targets = [{ environment: 'production', lastId: '41', version: 3 }];
    serve('a', 3);
    const release = holdTargets();
    const wait = waits.wait(['production'], 1000, never);
    await settle();
    clock.advance(1000);
    release();
    expect(await wait).toBe('not_published');
  });

  it('runs one query at a time, however many writes wait and publications come', async () => {
    const { store, waits, pending, settle, hold } = setUp();
    pending();
    const release = hold();
    const all = Array.from({ length: 50 }, () => waits.wait(['production'], 5000, never));
    await settle();
    for (let news = 0; news < 50; news += 1) waits.published();
    await settle();
    expect(store.queries).toBe(1);
    release();
    await settle();
    expect(store.queries).toBe(2);
    waits.stop();
    expect(new Set(await Promise.all(all))).toEqual(new Set(['stopping']));
  });

  it('checks once a second without an event, so a lost notification delays it by no more', async () => {
    const { store, clock, waits, pending, serve, settle } = setUp();
    pending();
    serve('a', 4);
    const wait = waits.wait(['production'], 5000, never);
    await settle();
    store.published = 4;
    clock.advance(1000);
    expect(await wait).toBe('applied');
  });

  it('ends when the client leaves', async () => {
    const { waits, pending, settle } = setUp();
    pending();
    const left = new AbortController();
    const wait = waits.wait(['production'], 5000, left.signal);
    await settle();
    left.abort();
    expect(await wait).toBe('not_published');
  });

  it('is refused beyond the limit, and when the process stops', async () => {
    const { waits, pending, settle } = setUp();
    pending();
    const all = Array.from({ length: MAX_WAITING }, () => waits.wait(['production'], 5000, never));
    await settle();
    expect(await waits.wait(['production'], 5000, never)).toBe('too_many_waiting');
    waits.stop();
    expect(new Set(await Promise.all(all))).toEqual(new Set(['stopping']));
    expect(await waits.wait(['production'], 5000, never)).toBe('stopping');
  });
});
