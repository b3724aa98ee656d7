import type { Release } from '../harness/releases/copied-release.ts';
import type { UpgradeWorld } from '../harness/releases/upgrade-world.ts';
import { QUOTA } from '../harness/quota-load.ts';
import type { Scenario } from '../harness/scenario.ts';

/** A process of the gateway: the control plane, or a data plane by its index. */
type Part = 'control plane' | 0 | 1;

/** @param order in which the processes are replaced by those of the next release, and then by those of the former one */
function upgrade(
  fault: string,
  order: readonly Part[],
  back: readonly Part[],
): Scenario<UpgradeWorld> {
  return {
    fault,
    async run(all, outageMs) {
      const { world, former, next } = all;
      const quota = all.quota.start();
      const run = await world.begin(fault, {
        targets: world.dataPlanes.map(({ baseUrl }) => baseUrl),
      });
      const pauseMs = outageMs / (order.length + back.length);
      const replaceAll = async (parts: readonly Part[], release: Release) => {
        for (const part of parts) {
          await replace(all, part, release);
          await world.changeArrives();
          await run.outage(pauseMs);
        }
      };
      await replaceAll(order, next);
      await replaceAll(back, former);
      await run.repair(() => world.changeArrives());
      const windows = await quota.stop();
      const over = windows.filter(({ granted }) => granted > QUOTA.limit);
      run.expectations.hold(over.length === 0, `over the quota: ${JSON.stringify(over)}`);
      const full = windows.filter(({ granted, uncertain }) => granted + uncertain >= QUOTA.limit);
      run.expectations.hold(full.length > 0, 'no window used up its quota');
      const twice = world.keysSentTwice();
      run.expectations.hold(twice === 0, `${twice} keys reached the upstream twice`);
      return run.finish({}, `${windows.length} windows of a quota, none over its limit`);
    },
  };
}

async function replace({ world }: UpgradeWorld, part: Part, release: Release): Promise<void> {
  if (part === 'control plane') {
    await world.controlPlane.stop();
    await world.restartControlPlane({ main: release.controlPlane });
  } else {
    await world.dataPlanes[part]?.stop();
    await world.restartDataPlane(part, { main: release.dataPlane });
  }
}

export const controlPlaneFirst = upgrade(
  'upgrade, the control plane first, and back, the data planes first',
  ['control plane', 0, 1],
  [1, 0, 'control plane'],
);

export const dataPlanesFirst = upgrade(
  'upgrade, the data planes first, and back in the same order',
  [0, 1, 'control plane'],
  [0, 1, 'control plane'],
);

export const controlPlaneBetween = upgrade(
  'upgrade, the control plane between the data planes, and back',
  [0, 'control plane', 1],
  [0, 'control plane', 1],
);
