import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { BucketBounds } from './bucket-bounds.ts';
import { BucketFill } from './bucket-fill.ts';

const MAX_BYTES = 100_000;
const PARTS = {
  withCredentials: { all: 0.8, free: 0.3, route: 0.1 },
  withoutCredentials: { all: 0.5, free: 0.2, route: 0.1 },
};
const KEPT_MS = 60_000;
const token = { key: 'production/token' };
const open = { key: 'production/open', withoutCredentials: true };

/** Bounds of a bucket of which others have used this part. */
async function setUp({ used = 0, maxBytes = MAX_BYTES, nodes = 1 } = {}) {
  const clock = manualClock();
  const fill = new BucketFill(clock, () => Promise.resolve({ bytes: used * MAX_BYTES, maxBytes }));
  await fill.isRecent();
  const bounds = new BucketBounds({
    clock,
    fill,
    parts: PARTS,
    keptMs: KEPT_MS,
    nodes: () => nodes,
  });
  return { clock, bounds };
}

describe('the bounds of a bucket', () => {
  it.each([
    [0.19, undefined, undefined],
    [0.49, undefined, undefined],
    [0.5, undefined, 'no_credentials'],
    [0.79, undefined, 'no_credentials'],
    [0.8, 'bucket', 'bucket'],
    [1, 'bucket', 'bucket'],
  ])(
    'at a fill of %d refuse new entries of routes with authentication by %s, of others by %s',
    async (used, ofToken, ofOpen) => {
      const { bounds } = await setUp({ used });
      expect([bounds.boundOf(token), bounds.boundOf(open)]).toEqual([ofToken, ofOpen]);
    },
  );

  it('refuse those of a route that has more than its share, once the bucket has less room, and of no other route', async () => {
    const share = PARTS.withCredentials.route * MAX_BYTES;
    const roomy = await setUp({ used: 0.29 });
    roomy.bounds.wrote(token, share);
    expect(roomy.bounds.boundOf(token)).toBeUndefined();
    const { bounds, clock } = await setUp({ used: 0.3 });
    bounds.wrote(token, share - 1);
    expect(bounds.boundOf(token)).toBeUndefined();
    bounds.wrote(token, 1);
    expect(bounds.boundOf(token)).toBe('route');
    expect([bounds.boundOf({ key: 'production/other' }), bounds.boundOf(open)]).toEqual([
      undefined,
      undefined,
    ]);
    clock.advance(2 * KEPT_MS);
    expect(bounds.boundOf(token)).toBeUndefined();
  });

  it('divide the share of a route among the data planes', async () => {
    const { bounds } = await setUp({ used: 0.3, nodes: 4 });
    bounds.wrote(token, (PARTS.withCredentials.route * MAX_BYTES) / 4);
    expect(bounds.boundOf(token)).toBe('route');
  });

  it('count entries of this data plane, and as many of each other one, before the fill is read again', async () => {
    const { bounds } = await setUp({ used: 0.75, nodes: 2 });
    const bytes = 0.01 * MAX_BYTES;
    const answers = [];
    for (let entries = 0; entries < 4; entries += 1) answers.push(bounds.admit(token, bytes));
    expect(answers).toEqual([undefined, undefined, undefined, 'bucket']);
    expect(bounds.refused).toEqual({ route: 0, no_credentials: 0, bucket: 1 });
  });

  it('refuse nothing if the bucket has no limit', async () => {
    const { bounds } = await setUp({ used: 1, maxBytes: -1 });
    bounds.wrote(open, 1e12);
    expect(bounds.boundOf(open)).toBeUndefined();
  });
});
