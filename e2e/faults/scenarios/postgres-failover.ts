import { eventually } from '@gateway/shared/test/eventually';
import type { PostgresWorld } from '../harness/postgres-world.ts';
import { repeatsOf, publishedEntries } from '../harness/published-entries.ts';
import type { Scenario } from '../harness/scenario.ts';
import { startWriteLoad, type WriteAnswer, type WriteLoad } from '../harness/write-load.ts';

/** How soon a write must be accepted again after the standby was promoted. */
const MANAGEMENT_BACK_MS = 10_000;
const REPAIR = { deadlineMs: 60_000, intervalMs: 20 };

/** How many writes are accepted before the primary is lost, and after the standby took over. */
const WRITES = 100;

interface Loss {
  readonly fault: string;
  /** A word for the names of what is written. */
  readonly name: string;
  /** Lets the primary fail. */
  readonly lose: (world: PostgresWorld) => unknown;
}

function primaryLost({ fault, name, lose }: Loss): Scenario<PostgresWorld> {
  return {
    fault,
    async run(all, outageMs) {
      const { world, pair } = all;
      const { stack, upstream } = world.gateway;
      const run = await world.begin(fault);
      const before = (await publishedEntries(stack.natsUrl)).length;
      const writes = startWriteLoad(world.management, name, upstream.url);
      try {
        await accepted(writes, WRITES);
        const link = all.primaryLink();
        await lose(all);
        const { length } = writes.answers.filter(isAccepted);
        run.expectations.hold(
          await isNamed(all, link.port),
          'readyz does not say what is wrong with each server',
        );
        await run.outage(outageMs);
        let backMs = NaN;
        await run.repair(async () => {
          const promotedAtMs = performance.now();
          await pair.promote();
          backMs = await eventually(() => firstAccepted(writes.answers, promotedAtMs), REPAIR);
          await world.changeArrives();
        });
        run.expectations.hold(backMs < MANAGEMENT_BACK_MS, `no write for ${backMs} ms`);
        await accepted(writes, length + WRITES);
        await writes.stop();
        await pair.standby.process.stop('SIGKILL');
        await link.heal();
        // The former primary comes back as a standby, and is not used.
        await pair.replaceStandby();
        await world.changeArrives();

        const ids = writes.answers.filter(isAccepted).map(({ id }) => id);
        const lost = await missing(all, ids);
        run.expectations.hold(lost === 0, `${lost} accepted writes were lost`);
        const entries = (await publishedEntries(stack.natsUrl)).slice(before);
        const { versions, changes, snapshots } = repeatsOf(entries);
        run.expectations.hold(versions === 0, `${versions} versions published twice`);
        run.expectations.hold(changes === 0, `${changes} changes published twice`);
        run.expectations.hold(snapshots === 0, `all was published again ${snapshots} times`);
        const seconds = (backMs / 1000).toFixed(1);
        return await run.finish(
          {},
          `a write accepted ${seconds} s after the promotion began; ${lost} of ${ids.length} accepted writes lost; ${changes + snapshots} published twice`,
        );
      } finally {
        await writes.stop();
      }
    },
  };
}

const accepted = (writes: WriteLoad, count: number) =>
  eventually(() => {
    if (writes.answers.filter(isAccepted).length < count) throw new Error('too few writes');
  }, REPAIR);

/** Whether every control plane says in /readyz what is wrong with each server. */
async function isNamed({ controlPlanes }: PostgresWorld, primaryPort: number): Promise<boolean> {
  const found = await Promise.all(
    controlPlanes.map(({ adminUrl }) =>
      eventually(async () => {
        const response = await fetch(`${adminUrl}/readyz`);
        const text = await response.text();
        if (response.status === 200) throw new Error('the control plane is ready');
        if (!text.includes(`127.0.0.1:${primaryPort}: `)) throw new Error(text);
        return text.includes('is a standby');
      }, REPAIR).catch(() => false),
    ),
  );
  return found.every(Boolean);
}

async function missing({ world }: PostgresWorld, ids: readonly string[]): Promise<number> {
  let lost = 0;
  for (const id of ids) {
    const { status } = await world.management.get(`/v1/services/${id}`);
    if (status !== 200) lost += 1;
  }
  return lost;
}

const isAccepted = ({ status }: WriteAnswer) => status === 201;

/** From `sinceMs` to the first write that was accepted after it. */
function firstAccepted(answers: readonly WriteAnswer[], sinceMs: number): number {
  const first = answers.find((answer) => isAccepted(answer) && answer.endedAtMs > sinceMs);
  if (first === undefined) throw new Error('no write was accepted');
  return first.endedAtMs - sinceMs;
}

export const primaryKilled = primaryLost({
  fault: 'Postgres primary killed, standby promoted after the outage',
  name: 'killed',
  lose: ({ pair }) => pair.primary.process.stop('SIGKILL'),
});

export const primaryStopped = primaryLost({
  fault: 'Postgres primary stopped, standby promoted after the outage',
  name: 'stopped',
  lose: ({ pair }) => pair.primary.stop(),
});

/** It sends nothing any more, not even that a connection is closed. */
export const primaryVanished = primaryLost({
  fault: 'Postgres primary cut off by a black hole, standby promoted after the outage',
  name: 'vanished',
  lose: (world) => world.primaryLink().blackHole(),
});
