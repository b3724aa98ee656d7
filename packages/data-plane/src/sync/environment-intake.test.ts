import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { eventually } from '@gateway/shared/testing/eventually';
import { manualClock } from '@gateway/shared/testing/manual-clock';
import { sealSnapshot, type SealedSnapshot } from '@gateway/shared/snapshot/codec';
import type { Snapshot } from '@gateway/shared/snapshot/schema';
import { createConfigMetrics } from './config-metrics.ts';
import { createEnvironmentIntake } from './environment-intake.ts';
import { captureLog } from './testing/captured-log.ts';
import { newKey, snapshotOf } from './testing/config-publisher.ts';

const key = newKey();

function seal(version: number): Promise<SealedSnapshot> {
  return sealSnapshot(snapshotOf('production', version), String(version), [key]);
}

/** An intake whose store of objects is in the hands of the test. */
function setUp(apply: (snapshot: Snapshot) => void = () => undefined) {
  const clock = manualClock();
  const registry = new Registry();
  const applied: number[] = [];
  const fetches: { object: string; give: (bytes: Uint8Array) => void; fail: () => void }[] = [];
  const kept: string[] = [];
  const intake = createEnvironmentIntake({
    environment: 'production',
    keys: [key],
    clock,
    random: () => 0,
    log: captureLog().log,
    metrics: createConfigMetrics(registry, () => true),
    fetch: (object) =>
      new Promise((resolve, reject) => {
        fetches.push({ object, give: resolve, fail: () => reject(new Error('not there')) });
      }),
    apply(snapshot) {
      apply(snapshot);
      applied.push(snapshot.version);
    },
    onServed: (text) => kept.push(text),
  });
  const nextFetch = (index: number) =>
    eventually(() => {
      const fetch = fetches[index];
      if (fetch === undefined) throw new Error(`no fetch ${index} yet`);
      return fetch;
    });
  const offer = (sealed: SealedSnapshot) => intake.offer(JSON.stringify(sealed.pointer));
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
  return { intake, clock, fetches, kept, nextFetch, offer, settled, refused };
}

describe('the intake of an environment', () => {
  it('takes only the newest of several changes that arrive during a fetch', async () => {
    const { offer, nextFetch, settled, fetches, kept } = setUp();
    const [one, two, three, four] = [await seal(1), await seal(2), await seal(3), await seal(4)];
    offer(one);
    (await nextFetch(0)).give(one.bytes);
    offer(two);
    offer(three);
    offer(four);
    (await nextFetch(1)).give(four.bytes);
    await settled([1, 4]);
    expect(fetches.map(({ object }) => object)).toEqual(['1', '4']);
    expect(kept).toEqual([JSON.stringify(one.pointer), JSON.stringify(four.pointer)]);
  });

  it('tries a fetch again after a back-off for as long as the pointer is the newest', async () => {
    const { intake, offer, clock, nextFetch, settled, fetches } = setUp();
    const one = await seal(1);
    offer(one);
    for (const [index, delayMs] of [100, 200, 400].entries()) {
      (await nextFetch(index)).fail();
      await eventually(() => expect(intake.error).toContain('not there'));
      await eventually(() => {
        clock.advance(delayMs - 1);
        expect(fetches).toHaveLength(index + 1);
        clock.advance(1);
      });
    }
    (await nextFetch(3)).give(one.bytes);
    await settled([1]);
    expect(intake.error).toBeUndefined();
  });

  it('gives up the back-off of an older pointer when a newer one arrives', async () => {
    const { offer, nextFetch, settled } = setUp();
    const two = await seal(2);
    offer(await seal(1));
    (await nextFetch(0)).fail();
    offer(two);
    (await nextFetch(1)).give(two.bytes);
    await settled([2]);
  });

  it('serves the old one on where a new one does not apply, and takes the next', async () => {
    const setup = setUp(({ version }) => {
      if (version === 2) throw new Error('route rte_1 names an unknown service');
    });
    const { intake, offer, nextFetch, settled, refused } = setup;
    for (const [index, version] of [1, 2, 3].entries()) {
      const sealed = await seal(version);
      offer(sealed);
      (await nextFetch(index)).give(sealed.bytes);
      await eventually(() => {
        if (version === 2) expect(intake.error).toMatch(/apply_failed: route rte_1 names/);
        else expect(intake.served?.version).toBe(version);
      });
    }
    await settled([1, 3]);
    expect(await refused('apply_failed')).toBe(1);
  });

  it('refuses bytes that the pointer does not name, once, however often it is shown', async () => {
    const { intake, offer, nextFetch, refused, fetches } = setUp();
    const [one, other] = [await seal(1), await seal(2)];
    offer(one);
    (await nextFetch(0)).give(other.bytes);
    await eventually(() => expect(intake.error).toContain('snapshot_refused'));
    offer(one);
    offer(other);
    (await nextFetch(1)).give(other.bytes);
    await eventually(() => expect(intake.served?.version).toBe(2));
    expect(fetches.map(({ object }) => object)).toEqual(['1', '2']);
    expect(await refused('snapshot_refused')).toBe(1);
  });

  it('never goes back to a version that was served before', async () => {
    const { intake, offer, nextFetch, settled, refused, fetches } = setUp();
    const [one, two] = [await seal(1), await seal(2)];
    offer(two);
    (await nextFetch(0)).give(two.bytes);
    await settled([2]);
    offer(one);
    await eventually(() => expect(intake.error).toContain('not_newer: version 1 after 2'));
    offer(two);
    await eventually(() => expect(intake.error).toBeUndefined());
    expect(fetches).toHaveLength(1);
    expect(await refused('not_newer')).toBe(1);
  });

  it('serves what was restored until something newer comes, and knows when it is the newest', async () => {
    const { intake, offer, nextFetch, settled } = setUp();
    const [one, two] = [await seal(1), await seal(2)];
    intake.restore(one.pointer, snapshotOf('production', 1));
    expect(intake.served).toMatchObject({ version: 1, source: 'file' });
    offer(one);
    await eventually(() => expect(intake.served).toMatchObject({ version: 1, source: 'nats' }));
    offer(two);
    (await nextFetch(0)).give(two.bytes);
    await settled([1, 2]);
  });

  it('stops at once in the midst of a back-off', async () => {
    const { intake, offer, nextFetch, fetches } = setUp();
    offer(await seal(1));
    (await nextFetch(0)).fail();
    await eventually(() => expect(intake.error).toBeDefined());
    await intake.stop();
    offer(await seal(2));
    expect(fetches).toHaveLength(1);
  });
});
