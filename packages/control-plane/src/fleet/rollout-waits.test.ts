import { describe, expect, it } from '@jest/globals';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { Registry } from 'prom-client';
import type { PublicationTarget } from '../store/publication/publication-targets.ts';
import { DataPlanes } from './data-planes.ts';
import { MAX_WAITING, RolloutWaits } from './rollout-waits.ts';
import { createWaitMetrics } from './wait-metrics.ts';

const never = new AbortController().signal;

/** Waits over a store that is told what is published, and counts its questions. */
function setting() {
  const clock = manualClock();
  const dataPlanes = new DataPlanes();
  dataPlanes.complete();
  const store = { targets: [] as PublicationTarget[], published: 0, asked: 0, connected: true };
  let answer = Promise.resolve();
  let targets = () => Promise.resolve();
  const waits = new RolloutWaits({
    ...{ dataPlanes, clock, log: createLogger('test', 'silent') },
    metrics: createWaitMetrics(new Registry()),
    readTargets: () => targets().then(() => store.targets),
    async readPublished(targets) {
      store.asked += 1;
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
    ...{ clock, dataPlanes, store, waits, settle },
    pending: () => (store.targets = [{ environment: 'production', lastId: '41', version: 3 }]),
    serve: (id: string, version: number) =>
      dataPlanes.take(
        heartbeatOf(id, { config_versions: { production: version } }),
        clock.monotonicMs(),
      ),
    /** What is to be published is not known before that. */
    holdTargets: () => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      targets = () => promise;
      return () => resolve(undefined);
    },
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      answer = promise.then(() => undefined);
      return () => resolve(undefined);
    },
  };
}

describe('a wait', () => {
  it('ends when what was changed is published and every live data plane has said that it serves it', async () => {
    const { store, waits, pending, serve, settle } = setting();
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

  it('is over at once where everybody serves everything already', async () => {
    const { store, waits, serve } = setting();
    store.targets = [{ environment: 'production', lastId: null, version: 3 }];
    serve('a', 3);
    expect(await waits.wait(['production'], 5000, never)).toBe('applied');
    expect(store.asked).toBe(0);
  });

  it('says after its time what is missing', async () => {
    const { store, clock, waits, pending, serve, settle } = setting();
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

  it('does not say that it is served where its time was over before that could be known', async () => {
    const { store, clock, waits, serve, settle, holdTargets } = setting();
    store.targets = [{ environment: 'production', lastId: '41', version: 3 }];
    serve('a', 3);
    const release = holdTargets();
    const wait = waits.wait(['production'], 1000, never);
    await settle();
    clock.advance(1000);
    release();
    expect(await wait).toBe('not_published');
  });

  it('asks one question at a time, however many wait and however often it hears of news', async () => {
    const { store, waits, pending, settle, hold } = setting();
    pending();
    const release = hold();
    const all = Array.from({ length: 50 }, () => waits.wait(['production'], 5000, never));
    await settle();
    for (let news = 0; news < 50; news += 1) waits.published();
    await settle();
    expect(store.asked).toBe(1);
    release();
    await settle();
    expect(store.asked).toBe(2);
    waits.stop();
    expect(new Set(await Promise.all(all))).toEqual(new Set(['stopping']));
  });

  it('looks once a second without any event, so that a lost one costs no more', async () => {
    const { store, clock, waits, pending, serve, settle } = setting();
    pending();
    serve('a', 4);
    const wait = waits.wait(['production'], 5000, never);
    await settle();
    store.published = 4;
    clock.advance(1000);
    expect(await wait).toBe('applied');
  });

  it('ends with the call whose client left, and gives its place back', async () => {
    const { waits, pending, settle } = setting();
    pending();
    const left = new AbortController();
    const wait = waits.wait(['production'], 5000, left.signal);
    await settle();
    left.abort();
    expect(await wait).toBe('not_published');
  });

  it('is refused beyond the bound, and where the process stops', async () => {
    const { waits, pending, settle } = setting();
    pending();
    const all = Array.from({ length: MAX_WAITING }, () => waits.wait(['production'], 5000, never));
    await settle();
    expect(await waits.wait(['production'], 5000, never)).toBe('too_many_waiting');
    waits.stop();
    expect(new Set(await Promise.all(all))).toEqual(new Set(['stopping']));
    expect(await waits.wait(['production'], 5000, never)).toBe('stopping');
  });
});
