import { isFailed, isKeyRefused, startClientLoad } from '../harness/client-load.ts';
import { countRecords } from '../harness/stored-records.ts';
import { LOAD_ROUTES } from '../harness/fault-world.ts';
import { QUOTA } from '../harness/quota-load.ts';
import type { RegionWorld } from '../harness/region-world.ts';
import type { Scenario } from '../harness/scenario.ts';

/** A data plane that says nothing for half a minute has no part of the quotas any more, for the others. */
const PART_FREE_MS = 30_000;
/** By then each data plane has its part again after a link is back. */
const SETTLED_MS = 15_000;
/** Each of two data planes has half of every limit. The home region grants that of the other one too, once it is free. */
const PART = QUOTA.limit / 2;
/** How long after the load records may still arrive. */
const RECORDS_MS = 60_000;

export const linkBetweenRegions: Scenario<RegionWorld> = {
  fault: 'the link between two regions cut, seen from the region without the stores',
  async run({ world, quota, link }, outageMs) {
    const [home, remote] = world.dataPlanes.map(({ baseUrl }) => baseUrl);
    if (home === undefined || remote === undefined) throw new Error('two data planes are needed');
    const { gateway, management } = world;
    const beganMs = Date.now();
    const loads = {
      home: startClientLoad({ targets: [home], token: gateway.admin.token, ...LOAD_ROUTES }),
      quota: quota.start(),
    };
    const stopAll = () => Promise.all([loads.home.stop(), loads.quota.stop()]);
    try {
      const run = await world.begin(this.fault, { targets: [remote] });
      const cutMs = Date.now();
      link.cut();
      await run.outage(outageMs);
      const healedMs = Date.now();
      await run.repair(async () => {
        await link.heal();
        await run.keysTaken();
        await world.changeArrives();
      });
      await run.load.goOn(SETTLED_MS);
      const [, windows] = await stopAll();

      const windowMs = QUOTA.window_seconds * 1000;
      const during = windows.filter(
        ({ window }) => window * windowMs > cutMs && (window + 1) * windowMs < healedMs,
      );
      const little = during.filter(({ granted, uncertain }) => granted + uncertain <= PART);
      run.expectations.hold(
        during.length > 0 && little.length === 0,
        `a region granted nothing while the link was cut: ${JSON.stringify(little)}`,
      );
      const over = windows.filter(({ window, granted }) => {
        const [startMs, endMs] = [window * windowMs, (window + 1) * windowMs];
        const isTwice = endMs > cutMs + PART_FREE_MS - windowMs && startMs < healedMs + SETTLED_MS;
        return granted > QUOTA.limit + (isTwice ? PART : 0);
      });
      run.expectations.hold(over.length === 0, `over the quota: ${JSON.stringify(over)}`);
      const { answers } = loads.home;
      const failed = answers.filter((answer) => isFailed(answer) || isKeyRefused(answer));
      run.expectations.hold(
        failed.length === 0,
        `${failed.length} requests failed in the home region`,
      );
      const ids = answers.map(({ requestId }) => requestId).filter((id) => id !== '');
      const { missing } = await countRecords(management, ids, beganMs, RECORDS_MS);
      run.expectations.hold(
        missing.length === 0,
        `${missing.length} records of the home region were lost`,
      );
      const twice = world.keysSentTwice();
      run.expectations.hold(twice === 0, `${twice} keys reached the upstream twice`);
      const most = Math.max(...windows.map(({ granted }) => granted));
      const note = `home region: ${answers.length} requests, ${failed.length} failed; at most ${most} of ${QUOTA.limit} granted`;
      return await run.finish({ keysRefused: Infinity }, note);
    } finally {
      await stopAll();
    }
  },
};
