import { describe, expect, it } from '@jest/globals';
import { CALLERS, openFullBucket } from './full-bucket.ts';

export interface FullBucketOptions {
  /** `NATS_URL` of a server or a cluster without data. */
  readonly url: () => string;
  readonly replicas: number;
  readonly dataPlanes: number;
  /** Registers what closes before NATS. */
  readonly defer: (close: () => Promise<unknown>) => void;
}

/** What holds while callers fill a bucket, on a NATS of any kind. */
export function describeFullBucket(
  name: string,
  { url, replicas, dataPlanes, defer }: FullBucketOptions,
): void {
  async function setUp() {
    const world = await openFullBucket(url(), { replicas, dataPlanes });
    defer(() => world.close());
    const orders = world.token('orders');
    const known = () => world.send(orders, world.known);
    const allKnown = { granted: world.known, unavailable: 0 };
    expect(await known()).toEqual(allKnown);
    const inNextWindow = () => {
      world.nextWindow();
      return known();
    };
    return { ...world, orders, allKnown, inNextWindow };
  }

  describe(name, () => {
    it('serves known callers, and new ones of other routes, while a route without authentication is flooded', async () => {
      const world = await setUp();
      const before = await world.fillPart();
      const { granted, unavailable } = await world.send(world.open('search'), CALLERS);
      expect(granted).toBeGreaterThan(100);
      expect(unavailable).toBe(CALLERS - granted);
      expect((await world.fillPart()) - before).toBeLessThan(0.27);
      expect(await world.send(world.open('other'), 50)).toEqual({ granted: 50, unavailable: 0 });
      expect(await world.inNextWindow()).toEqual(world.allKnown);
    });

    it('keeps half for routes with authentication, and a fifth for the callers that it knows', async () => {
      const world = await setUp();
      for (let route = 0; route < 6; route += 1) {
        await world.send(world.open(`open-${route}`), CALLERS / 4);
      }
      expect(await world.fillPart()).toBeLessThan(0.55);
      expect(await world.send(world.token('customers'), 50)).toEqual({
        granted: 50,
        unavailable: 0,
      });
      for (let route = 0; route < 6; route += 1) {
        await world.send(world.token(`token-${route}`), CALLERS / 4);
      }
      const fill = await world.fillPart();
      expect(fill).toBeGreaterThan(0.7);
      expect(fill).toBeLessThan(0.85);
      expect(await world.inNextWindow()).toEqual(world.allKnown);
      // None of them was granted without being counted in NATS.
      expect(world.stores.map(({ counts }) => counts.reserveTakes)).toEqual(
        world.stores.map(() => 0),
      );
    });
  });
}
