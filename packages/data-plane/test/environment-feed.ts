import { expect } from '@jest/globals';
import { Registry } from 'prom-client';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { sealSnapshot, type SealedSnapshot } from '@gateway/shared/snapshot/signed-snapshot';
import type { Delta } from '@gateway/shared/snapshot/log-schema';
import type { Snapshot } from '@gateway/shared/snapshot/schema';
import { newKey, snapshotOf } from '@gateway/shared/test/config-publisher';
import { createConfigMetrics } from '../src/configuration/config-metrics.ts';
import { EnvironmentFeed } from '../src/configuration/environment-feed.ts';
import { captureLog } from './captured-log.ts';

/** The key that signs the configuration. */
export const key = newKey();

/** An empty snapshot of this version; its object is named for the version. */
export function seal(version: number): Promise<SealedSnapshot> {
  return sealSnapshot(snapshotOf('production', version), String(version), [key]);
}

/** A feed; the test answers its downloads. */
export function openTestFeed(
  apply: (snapshot: Snapshot) => void = () => undefined,
  applyDelta: (delta: Delta) => void = () => undefined,
) {
  const state = { asked: 0, isLong: false };
  const clock = manualClock();
  const registry = new Registry();
  const applied: number[] = [];
  const fetches: { object: string; give: (bytes: Uint8Array) => void; fail: () => void }[] = [];
  const kept: string[] = [];
  const feed = new EnvironmentFeed({
    environment: 'production',
    keys: [key],
    clock,
    random: () => 0,
    log: captureLog().log,
    metrics: createConfigMetrics(registry, () => true),
    readObject: (object) =>
      new Promise((resolve, reject) => {
        fetches.push({ object, give: resolve, fail: () => reject(new Error('not there')) });
      }),
    sink: {
      apply(snapshot) {
        apply(snapshot);
        applied.push(snapshot.version);
      },
      applyDelta(delta) {
        applyDelta(delta);
        applied.push(delta.version);
      },
    },
    lastGood: {
      snapshot: (text) => kept.push(text),
      delta: (sealed) => kept.push(Buffer.from(sealed).toString()),
      isLong: () => state.isLong,
    },
    requestSnapshot: () => void (state.asked += 1),
  });
  const nextFetch = (index: number) =>
    eventually(() => {
      const fetch = fetches[index];
      if (fetch === undefined) throw new Error(`no fetch ${index} yet`);
      return fetch;
    });
  const offer = (sealed: SealedSnapshot) => feed.offerPointer(JSON.stringify(sealed.pointer));
  const settled = (versions: readonly number[]) =>
    eventually(() => expect(applied).toEqual(versions));
  const refused = async (reason: string) => {
    const line = `gateway_config_refused_total{reason="${reason}"} `;
    const metrics = await registry.metrics();
    return Number(
      metrics
        .split('\n')
        .find((one) => one.startsWith(line))
        ?.slice(line.length),
    );
  };
  return { feed, clock, fetches, kept, nextFetch, offer, settled, refused, registry, state };
}
