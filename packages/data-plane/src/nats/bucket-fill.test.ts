import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { BucketFill, type BucketSize } from './bucket-fill.ts';

const MAX_BYTES = 1000;
/** Resolves when all pending promises have continued. */
const idle = () => new Promise((resolve) => setImmediate(resolve));

function setUp(sizes: readonly (BucketSize | undefined)[]) {
  const clock = manualClock();
  let reads = 0;
  const fill = new BucketFill(clock, () => {
    const size = sizes[reads];
    reads += 1;
    return size === undefined ? Promise.reject(new Error('away')) : Promise.resolve(size);
  });
  const after = async (ms: number) => {
    clock.advance(ms);
    void fill.part;
    await idle();
    return fill.part;
  };
  return { clock, fill, after, reads: () => reads };
}

const used = (bytes: number, maxBytes = MAX_BYTES): BucketSize => ({ bytes, maxBytes });

describe('the fill of a bucket', () => {
  it('is read once a second, and stays the same if the read fails', async () => {
    const { after, reads } = setUp([used(900), undefined, used(100)]);
    expect(await after(0)).toBe(0.9);
    expect(await after(999)).toBe(0.9);
    expect(reads()).toBe(1);
    expect(await after(1)).toBe(0.9);
    expect(await after(1000)).toBe(0.1);
    expect(reads()).toBe(3);
  });

  it('contains what was added since, until a later read', async () => {
    const { fill, after } = setUp([used(100), used(150)]);
    await after(0);
    fill.add(50);
    expect(fill.part).toBe(0.15);
    expect(await after(1000)).toBe(0.15);
  });

  it('is 0 if there is no limit, and before it is known', async () => {
    const { fill, after } = setUp([used(1e12, -1)]);
    fill.add(1e12);
    expect(fill.part).toBe(0);
    expect(await after(1000)).toBe(0);
  });

  it('is read before a decision if the last read is old, but not for long', async () => {
    const { clock, fill } = setUp([used(900)]);
    await fill.isRecent();
    expect(fill.part).toBe(0.9);
    clock.advance(9999);
    await fill.isRecent();
    const stuck = new BucketFill(clock, () => new Promise(() => undefined));
    const waited = stuck.isRecent();
    clock.advance(250);
    await waited;
    expect(stuck.part).toBe(0);
  });
});
