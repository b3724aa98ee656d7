import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { sealLogEntry } from '@gateway/shared/snapshot/signed-log-entry';
import {
  deltaOf,
  sealRepeated,
  snapshotEntryOf,
  snapshotOf,
} from '@gateway/shared/test/config-publisher';
import { key, openTestFeed, seal } from '../../test/environment-feed.ts';

describe('the feed of an environment', () => {
  it('loads only the newest of several snapshots that arrive during a download', async () => {
    const { offer, nextFetch, settled, fetches, kept } = openTestFeed();
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

  it('repeats a download with back-off while the pointer is the newest', async () => {
    const { feed, offer, clock, nextFetch, settled, fetches } = openTestFeed();
    const one = await seal(1);
    offer(one);
    for (const [index, delayMs] of [100, 200, 400].entries()) {
      (await nextFetch(index)).fail();
      await eventually(() => expect(feed.error).toContain('not there'));
      await eventually(() => {
        clock.advance(delayMs - 1);
        expect(fetches).toHaveLength(index + 1);
        clock.advance(1);
      });
    }
    (await nextFetch(3)).give(one.bytes);
    await settled([1]);
    expect(feed.error).toBeUndefined();
  });

  it('gives up the back-off of an older pointer when a newer one arrives', async () => {
    const { offer, nextFetch, settled } = openTestFeed();
    const two = await seal(2);
    offer(await seal(1));
    (await nextFetch(0)).fail();
    offer(two);
    (await nextFetch(1)).give(two.bytes);
    await settled([2]);
  });

  it('keeps the old version if a new one does not apply, and serves the next', async () => {
    const setup = openTestFeed(({ version }) => {
      if (version === 2) throw new Error('route rte_1 names an unknown service');
    });
    const { feed, offer, nextFetch, settled, refused } = setup;
    for (const [index, version] of [1, 2, 3].entries()) {
      const sealed = await seal(version);
      offer(sealed);
      (await nextFetch(index)).give(sealed.bytes);
      await eventually(() => {
        if (version === 2) expect(feed.error).toMatch(/apply_failed: route rte_1 names/);
        else expect(feed.served?.version).toBe(version);
      });
    }
    await settled([1, 3]);
    expect(await refused('apply_failed')).toBe(1);
  });

  it('refuses bytes that do not match the pointer, once for each pointer', async () => {
    const { feed, offer, nextFetch, refused, fetches } = openTestFeed();
    const [one, other] = [await seal(1), await seal(2)];
    offer(one);
    (await nextFetch(0)).give(other.bytes);
    await eventually(() => expect(feed.error).toContain('snapshot_refused'));
    offer(one);
    offer(other);
    (await nextFetch(1)).give(other.bytes);
    await eventually(() => expect(feed.served?.version).toBe(2));
    expect(fetches.map(({ object }) => object)).toEqual(['1', '2']);
    expect(await refused('snapshot_refused')).toBe(1);
  });

  it('never goes back to an older version', async () => {
    const { feed, offer, nextFetch, settled, refused, fetches } = openTestFeed();
    const [one, two] = [await seal(1), await seal(2)];
    offer(two);
    (await nextFetch(0)).give(two.bytes);
    await settled([2]);
    offer(one);
    await eventually(() => expect(feed.error).toContain('not_newer: version 1 after 2'));
    offer(two);
    await eventually(() => expect(feed.error).toBeUndefined());
    expect(fetches).toHaveLength(1);
    expect(await refused('not_newer')).toBe(1);
  });

  it('ignores older snapshots that the log announces at the start', async () => {
    const { feed, offer, nextFetch, settled, refused } = openTestFeed();
    const [one, two] = [await seal(1), await seal(2)];
    offer(two);
    feed.offerEntry(sealLogEntry(snapshotEntryOf(one.pointer), [key]));
    (await nextFetch(0)).give(two.bytes);
    await settled([2]);
    expect(feed.error).toBeUndefined();
    expect(await refused('not_newer')).toBe(0);
  });

  it('serves the restored version until a newer one arrives, and notes that NATS has the same version', async () => {
    const { feed, offer, nextFetch, settled } = openTestFeed();
    const [one, two] = [await seal(1), await seal(2)];
    await feed.restore({
      pointer: one.pointer,
      snapshot: snapshotOf('production', 1),
      deltas: [],
    });
    expect(feed.served).toMatchObject({ version: 1, source: 'file' });
    offer(one);
    await eventually(() => expect(feed.served).toMatchObject({ version: 1, source: 'nats' }));
    offer(two);
    (await nextFetch(0)).give(two.bytes);
    await settled([1, 2]);
  });

  it('replaces many kept deltas by a snapshot once a snapshot of the served version is available', async () => {
    const { feed, offer, nextFetch, settled, state, fetches, kept } = openTestFeed();
    const one = await seal(1);
    offer(one);
    (await nextFetch(0)).give(one.bytes);
    await settled([1]);
    const delta = sealLogEntry(deltaOf('production', 1), [key]);
    feed.offerEntry(delta);
    await settled([1, 2]);
    const repeated = await sealRepeated(delta, 'production', [key]);
    offer(repeated);
    await eventually(() => expect(feed.isSettled).toBe(true));
    expect(fetches).toHaveLength(1);
    state.isLong = true;
    offer(repeated);
    (await nextFetch(1)).give(repeated.bytes);
    await eventually(() => expect(kept.at(-1)).toBe(JSON.stringify(repeated.pointer)));
    await settled([1, 2]);
    expect(feed.error).toBeUndefined();
  });

  it('requests a snapshot repeatedly until one arrives', async () => {
    const { feed, offer, nextFetch, settled, state, clock, fetches } = openTestFeed();
    const one = await seal(1);
    offer(one);
    (await nextFetch(0)).give(one.bytes);
    await settled([1]);
    const late = sealLogEntry(deltaOf('production', 2), [key]);
    feed.offerEntry(late);
    for (const [times, afterMs] of [250, 5000, 5000].entries()) {
      await eventually(() => {
        clock.advance(afterMs);
        expect(state.asked).toBeGreaterThan(times);
      });
    }
    expect(feed.error).toMatch(/^production: gap: .* version 1$/);
    const repeated = await sealRepeated(late, 'production', [key]);
    offer(repeated);
    await eventually(() => {
      clock.advance(250);
      expect(fetches).toHaveLength(2);
    });
    (await nextFetch(1)).give(repeated.bytes);
    await settled([1, 3]);
    expect(feed.error).toBeUndefined();
  });

  it('stops at once during a back-off', async () => {
    const { feed, offer, nextFetch, fetches } = openTestFeed();
    offer(await seal(1));
    (await nextFetch(0)).fail();
    await eventually(() => expect(feed.error).toBeDefined());
    await feed.stop();
    offer(await seal(2));
    expect(fetches).toHaveLength(1);
  });
});
