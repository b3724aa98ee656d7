import { eventually } from '@gateway/shared/test/eventually';
import { metric } from '../../harness/figures.ts';
import type { FaultWorld } from '../harness/fault-world.ts';
import { describeLatency, latencyDuring, slowedDown } from '../harness/get-latency.ts';
import type { LinkWorld } from '../harness/link-world.ts';
import type { Scenario } from '../harness/scenario.ts';

const SLOW_MS = 200;
const MIB = 1024 * 1024;
/** Memory that the garbage of a few seconds may take. */
const MAX_GROWTH_BYTES = 100 * MIB;
/** A lease is given up after one second; the rest is for a busy machine. */
const MAX_QUOTA_WAIT_MS = 4000;
const SMALL_LIMIT = 20;
const REPAIR = { deadlineMs: 60_000, intervalMs: 50 };

const residentBytes = (world: FaultWorld) =>
  sum(world, (adminUrl) => metric(adminUrl, 'process_resident_memory_bytes'));

async function sum(world: FaultWorld, read: (adminUrl: string) => Promise<number>) {
  const values = await Promise.all(world.dataPlanes.map(({ adminUrl }) => read(adminUrl)));
  return values.reduce((total, value) => total + value, 0);
}

/** Resolves when the gauge has this value in every data plane. */
function everywhere(world: FaultWorld, gauge: string, value: number): Promise<void> {
  return eventually(async () => {
    for (const { adminUrl } of world.dataPlanes) {
      const now = await metric(adminUrl, gauge);
      if (now !== value) throw new Error(`${gauge} is ${now}`);
    }
  }, REPAIR);
}

async function healed(world: FaultWorld): Promise<void> {
  await everywhere(world, 'gateway_config_connected', 1);
  await everywhere(world, 'gateway_quota_leasing', 1);
  await world.changeArrives();
}

export const natsSlow: Scenario<LinkWorld> = {
  fault: `NATS ${SLOW_MS} ms away, each way`,
  async run({ world, relay }, outageMs) {
    const run = await world.begin(this.fault);
    const leaseWaits = () =>
      sum(world, (adminUrl) => metric(adminUrl, 'gateway_quota_waits_total{for="lease"}'));
    const before = await latencyDuring(run.load, () => run.load.goOn(outageMs));
    const waitsBefore = await leaseWaits();
    relay.slow(SLOW_MS);
    const during = await latencyDuring(run.load, () => run.outage(outageMs));
    const waited = (await leaseWaits()) - waitsBefore;
    const slower = slowedDown(before, during);
    run.expectations.hold(slower === undefined, String(slower));
    // The first request of a window has no earlier request that could have leased ahead.
    run.expectations.hold(waited <= 2, `${waited} requests waited for a lease`);
    await run.repair(async () => {
      await relay.heal();
      await healed(world);
    });
    // The claim of a key has its own timeout, which a busy machine may exceed over such a link.
    return run.finish({ keysRefused: Infinity }, describeLatency(before, during));
  },
};

export const natsSwallowed: Scenario<LinkWorld> = {
  fault: 'NATS cut off by a black hole',
  async run({ world, relay }, outageMs) {
    const window = { limit: SMALL_LIMIT, window_seconds: 86_400 };
    const { name } = await world.gateway.route({ rate_limit: window });
    await world.changeArrives();
    // The window began before the data planes: they have only reserves of it that they have stored.
    for (const { baseUrl } of world.dataPlanes) {
      await world.management.at(baseUrl).proxy(String(name), { method: 'GET' });
    }
    const run = await world.begin(this.fault);
    const before = await latencyDuring(run.load, () => run.load.goOn(outageMs));
    const bytesBefore = await residentBytes(world);
    relay.blackHole();
    const quota = await takeAllOf(world, String(name));
    const during = await latencyDuring(run.load, async () => {
      await run.outage(outageMs);
      // Only pings detect that such a link is dead.
      await everywhere(world, 'gateway_config_connected', 0);
      await everywhere(world, 'gateway_quota_leasing', 0);
    });
    const grownBytes = (await residentBytes(world)) - bytesBefore;
    const slower = slowedDown(before, during);
    const { expectations } = run;
    expectations.hold(slower === undefined, String(slower));
    expectations.hold(
      quota.longestMs <= MAX_QUOTA_WAIT_MS,
      `a quota made a request wait for ${quota.longestMs} ms`,
    );
    expectations.hold(
      quota.granted > 0 && quota.granted <= SMALL_LIMIT,
      `${quota.granted} of ${SMALL_LIMIT} were granted`,
    );
    expectations.hold(
      grownBytes <= MAX_GROWTH_BYTES,
      `the data planes grew by ${grownBytes / MIB} MiB`,
    );
    await run.repair(async () => {
      await relay.heal();
      await healed(world);
      await run.keysTaken();
    });
    const grownMib = Math.round(grownBytes / MIB);
    const memory = `resident memory ${grownMib < 0 ? '' : '+'}${grownMib} MiB`;
    return run.finish(
      { keysRefused: Infinity },
      `${describeLatency(before, during)}; ${memory}; longest wait for a quota ${(quota.longestMs / 1000).toFixed(1)} s`,
    );
  },
};

/** Sends twice the limit to each data plane, one request at a time. */
async function takeAllOf(
  world: FaultWorld,
  route: string,
): Promise<{ granted: number; longestMs: number }> {
  let granted = 0;
  let longestMs = 0;
  const offer = async (baseUrl: string) => {
    const client = world.management.at(baseUrl);
    for (let count = 0; count < 2 * SMALL_LIMIT; count += 1) {
      const sentAtMs = performance.now();
      const { status } = await client.proxy(route, { method: 'GET' });
      longestMs = Math.max(longestMs, performance.now() - sentAtMs);
      if (status === 200) granted += 1;
    }
  };
  await Promise.all(world.dataPlanes.map(({ baseUrl }) => offer(baseUrl)));
  return { granted, longestMs };
}
