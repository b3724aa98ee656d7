import { describe, expect, it } from '@jest/globals';
import { play, type Step } from '../../test/quota/quota-world.ts';

const DAY_MS = 86_400_000;
const LIMIT = 30;
/** Of each of the three data planes. */
const PART = 10;
/** Longer than data planes wait for the heartbeats of another, and for the next refresh after that. */
const DEAD = { kind: 'pass', seconds: 32 } as const;

const take = (node: number, count = 2 * LIMIT): Step => ({ kind: 'take', node, count });
const settleAll: Step = { kind: 'settle_all' };

/** What three data planes, each with its part of a window of a day, grant in it. */
async function grantedBy(...steps: Step[]): Promise<number> {
  const world = { nodes: 3, shares: true, limit: LIMIT, windowMs: DAY_MS, skewsMs: [0, 0, 0] };
  const { granted } = await play({ ...world, steps: [...steps, settleAll] });
  return [...granted.values()].reduce((sum, count) => sum + count, 0);
}

describe('what three data planes grant of one window', () => {
  it('is more than the limit, by one part, if one is cut off alone until it counts as dead', async () => {
    const cutOff: Step = { kind: 'cut_off', node: 0 };
    expect(await grantedBy(cutOff, take(0), { kind: 'pass', seconds: 20 }, take(1))).toBe(LIMIT);
    expect(await grantedBy(cutOff, take(0), DEAD, take(1))).toBe(LIMIT + PART);
  });

  it('is no more than the limit if all are cut off for as long', async () => {
    const all: Step[] = [take(0), take(1), take(2)];
    const away: Step[] = [{ kind: 'cut_off', node: 'all' }, ...all, DEAD];
    expect(await grantedBy(...away, { kind: 'reconnect', node: 'all' }, ...all)).toBe(LIMIT);
  });

  it('is more than the limit, by one part, if one is killed while NATS is away and never started again', async () => {
    const killed: Step[] = [
      { kind: 'cut_off', node: 'all' },
      take(0),
      { kind: 'kill', node: 0 },
      { kind: 'reconnect', node: 'all' },
      DEAD,
    ];
    expect(await grantedBy(...killed, take(1))).toBe(LIMIT + PART);
  });

  it.each([
    { how: 'killed', orderly: false, left: 0 },
    { how: 'stopped', orderly: true, left: PART - 4 },
  ])(
    'is no more than the limit if one is $how while NATS is away, and started again with its data folder',
    async ({ orderly, left }) => {
      const restarted: Step[] = [
        { kind: 'cut_off', node: 'all' },
        take(0, 4),
        { kind: 'restart', node: 0, folder: true, orderly },
      ];
      expect(await grantedBy(...restarted, take(0))).toBe(4 + left);
      const back: Step[] = [{ kind: 'reconnect', node: 'all' }, DEAD, take(1), take(0)];
      const granted = await grantedBy(...restarted, ...back);
      // What was killed leaves its part unused.
      expect(granted).toBe(orderly ? LIMIT : LIMIT - PART + 4);
    },
  );

  it('is all of the limit but their unused leases if all are killed and started again with their data folders, and only one has traffic', async () => {
    const before: Step[] = [take(0, 2), settleAll, take(1, 2), settleAll, take(2, 2), settleAll];
    const restart = (node: number): Step => ({ kind: 'restart', node, folder: true });
    const restarted: Step[] = [restart(0), restart(1), restart(2), { kind: 'pass', seconds: 1 }];
    const calls = Array.from({ length: 5 }, () => [take(0, LIMIT), settleAll]).flat();
    // Each had leased two more than it used.
    expect(await grantedBy(...before, ...restarted, ...calls)).toBe(LIMIT - 3 * 2);
  });

  it('is no more than the limit if another joins after the reserves were released, the limit is raised, and NATS is lost then', async () => {
    const usedUp: Step[] = [take(0), settleAll, take(1), take(2), settleAll];
    const joins: Step[] = [
      { kind: 'restart', node: 0, folder: false },
      { kind: 'pass', seconds: 8 },
      { kind: 'limit', limit: LIMIT + PART },
    ];
    const lost: Step[] = [{ kind: 'cut_off', node: 'all' }, take(1), take(2)];
    expect(await grantedBy(...usedUp, ...joins, ...lost)).toBe(LIMIT);
  });

  it('is no more than the limit if all are started again without their data folders, and NATS is lost then', async () => {
    const restart = (node: number): Step => ({ kind: 'restart', node, folder: false });
    const steps: Step[] = [take(0), settleAll, restart(0), restart(1), restart(2), DEAD];
    const lost: Step[] = [{ kind: 'cut_off', node: 'all' }, take(0), take(1), take(2)];
    expect(await grantedBy(...steps, ...lost)).toBe(LIMIT);
  });
});
