import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AlertGroup, AlertWorld } from './condition.ts';

const OPENING_MS = 120_000;
const CONDITION_MS = 240_000;
/** Above the number that a counter needs to have a rate, and an alert to last for its `for`. */
const SCRAPES = 8;
const HEALTHY = { deadlineMs: 60_000, intervalMs: 100 };

/** Tests that the conditions of a group raise their alerts, and that no alert fires before. */
export function describeAlerts<World extends AlertWorld>(group: AlertGroup<World>): void {
  describe(`alerts of ${group.name}`, () => {
    let opened: World | undefined;
    const world = () => {
      if (opened === undefined) throw new Error('the gateway did not start');
      return opened;
    };
    beforeAll(async () => {
      opened = await group.open();
    }, OPENING_MS);
    afterAll(() => opened?.close(), OPENING_MS);

    it(
      'no alert fires while nothing is wrong',
      async () => {
        const { watch, traffic } = world();
        await eventually(async () => {
          await traffic();
          if ((await watch.scrapes()) < SCRAPES) throw new Error('not watched long enough');
        }, HEALTHY);
        expect(await watch.fired()).toEqual([]);
      },
      CONDITION_MS,
    );

    for (const { condition, alerts, cause, resolved } of group.conditions) {
      it(
        `${condition}: ${alerts.join(', ')}`,
        async () => {
          const { watch } = world();
          const before = await watch.firing();
          expect(alerts.filter((alert) => before.includes(alert))).toEqual([]);
          const startedMs = performance.now();
          const end = await cause(world());
          try {
            const firing = alerts.map(async (alert) => {
              await watch.fires(alert);
              report(condition, alert, (performance.now() - startedMs) / 1000);
            });
            await Promise.all(firing);
          } finally {
            await end();
          }
          await Promise.all(resolved.map((alert) => watch.resolves(alert)));
        },
        CONDITION_MS,
      );
    }
  });
}

/** Prints how long each alert took, which is the figure that somebody wants who changes a rule. */
function report(condition: string, alert: string, seconds: number): void {
  process.stdout.write(`${alert}: ${seconds.toFixed(1)} s after the start of: ${condition}\n`);
}
