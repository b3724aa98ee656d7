import { queryDatabase } from '@gateway/testing/query-database';
import { publishedEntries } from '../harness/published-entries.ts';
import { QUOTA } from '../harness/quota-load.ts';
import type { Release } from '../harness/releases/copied-release.ts';
import type { Part, UpgradeWorld } from '../harness/releases/upgrade-world.ts';
import type { Scenario } from '../harness/scenario.ts';

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
      const load = all.quota.start();
      try {
        const run = await world.begin(fault, {
          targets: world.dataPlanes.map(({ baseUrl }) => baseUrl),
        });
        const pauseMs = outageMs / (order.length + back.length);
        const replaceAll = async (parts: readonly Part[], release: Release) => {
          for (const part of parts) {
            await all.replace(part, release);
            await world.changeArrives();
            await run.outage(pauseMs);
          }
        };
        const before = await writtenBy(all);
        await replaceAll(order, next);
        const after = await writtenBy(all);
        const differs =
          after.format === before.format + 1 && after.hasMigration && after.hasCompactRecords;
        const what = `format ${before.format} before, ${JSON.stringify(after)} after`;
        run.expectations.hold(
          differs || !all.changesFormats,
          `the next release did not run: ${what}`,
        );
        await replaceAll(back, former);
        const again = await writtenBy(all);
        run.expectations.hold(
          again.format === before.format,
          'the former release does not run again',
        );
        await run.repair(() => world.changeArrives());
        const windows = await load.stop();
        const over = windows.filter(({ granted }) => granted > QUOTA.limit);
        run.expectations.hold(over.length === 0, `over the quota: ${JSON.stringify(over)}`);
        const full = windows.filter(({ granted, uncertain }) => granted + uncertain >= QUOTA.limit);
        run.expectations.hold(full.length > 0, 'no window used up its quota');
        const twice = world.keysSentTwice();
        run.expectations.hold(twice === 0, `${twice} keys reached the upstream twice`);
        return await run.finish({}, `${windows.length} windows of a quota, none over its limit`);
      } finally {
        await load.stop();
      }
    },
  };
}

/** The format of the newest change, and what only the next release leaves in the database. */
async function writtenBy({ world }: UpgradeWorld) {
  const { natsUrl, databaseUrl } = world.gateway.stack;
  const newest = (await publishedEntries(natsUrl)).at(-1);
  const applied = await queryDatabase(
    databaseUrl,
    `SELECT name FROM kysely_migration WHERE name = '9999_next_release'`,
  );
  const compact = await queryDatabase(
    databaseUrl,
    `SELECT 1 FROM request_records WHERE jsonb_typeof(document) = 'array' LIMIT 1`,
  );
  return {
    format: newest?.format ?? 0,
    hasMigration: applied.length > 0,
    hasCompactRecords: compact.length > 0,
  };
}

const [C1, C2, D1, D2] = [
  'control plane 1',
  'control plane 2',
  'data plane 1',
  'data plane 2',
] as const;

export const controlPlanesFirst = upgrade(
  'upgrade, the control planes first, and back, the data planes first',
  [C1, C2, D1, D2],
  [D2, D1, C2, C1],
);

export const dataPlanesFirst = upgrade(
  'upgrade, the data planes first, and back in the same order',
  [D1, D2, C1, C2],
  [D1, D2, C1, C2],
);

export const inTurns = upgrade(
  'upgrade, a data plane and a control plane in turns, and back',
  [D1, C1, D2, C2],
  [C2, D1, C1, D2],
);
