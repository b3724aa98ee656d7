import type { NatsNode } from '@gateway/testing/nats-cluster';
import { NAMES } from '@gateway/shared/messaging/names';
import type { ClusterWorld, SplitWorld } from '../harness/cluster-world.ts';
import { isKeyRefused } from '../harness/client-load.ts';
import type { FaultRun } from '../harness/fault-run.ts';
import type { Scenario } from '../harness/scenario.ts';

/** The stream of the idempotency keys. */
const KEYS = `KV_${NAMES.idempotencyBucket}`;

/** A cluster without a leader elects one within this time, also on a busy machine. */
const ELECTION_MS = 15_000;

/** About 200 requests a second, in thirds: GETs, requests with a new key, and the same once more. */
const LOAD = { pairs: 3, repeatsKeys: true };

/** Breaks something and repairs it; `outageMs` lie between. */
type Work<World> = (world: World, run: FaultRun, outageMs: number) => Promise<void>;

/** @param refusesKeys whether keys are refused while it lasts, because no majority of the servers can be reached */
function clusterFault<World extends ClusterWorld>(
  fault: string,
  work: Work<World>,
  refusesKeys = false,
): Scenario<World> {
  return {
    fault,
    async run(all, outageMs) {
      const { world, cluster } = all;
      await cluster.complete();
      const run = await world.begin(fault, LOAD);
      await work(all, run, outageMs);
      await run.repair(async () => {
        await cluster.complete();
        await world.changeArrives();
        await run.keysTaken();
      });
      const twice = world.keysSentTwice();
      run.expectations.hold(twice === 0, `${twice} keys reached the upstream twice`);
      const refusedMs = longestRefusalMs(run);
      const note = `keys refused for at most ${(refusedMs / 1000).toFixed(1)} s at a time`;
      run.expectations.hold(refusedMs <= ELECTION_MS + (refusesKeys ? outageMs : 0), note);
      return run.finish({ keysRefused: Infinity }, note);
    },
  };
}

/** For how long keys were refused without a break. */
function longestRefusalMs({ load }: FaultRun): number {
  let longestMs = 0;
  let sinceMs: number | undefined;
  for (const answer of load.answers.filter(({ kind }) => kind === 'keyed')) {
    if (isKeyRefused(answer)) {
      sinceMs ??= answer.sentAtMs;
      longestMs = Math.max(longestMs, answer.endedAtMs - sinceMs);
    } else sinceMs = undefined;
  }
  return longestMs;
}

const kill = ({ server }: NatsNode) => server.process.stop('SIGKILL');

export const eachNodeKilled = clusterFault(
  'each of three NATS servers killed and started in turn',
  async ({ cluster }, run, outageMs) => {
    for (const node of cluster.nodes) {
      await kill(node);
      await run.outage(outageMs / cluster.nodes.length);
      await node.start();
      await cluster.complete();
    }
  },
);

/** The server that leads the keys comes back with its data or without. */
function leaderStopped(fault: string, data: 'kept' | 'gone'): Scenario<ClusterWorld> {
  return clusterFault(fault, async ({ cluster }, run, outageMs) => {
    const leader = await cluster.leaderOf(KEYS);
    await kill(leader);
    await run.outage(outageMs);
    // The two others elect a leader, however short the outage is meant to be.
    await run.keysTaken();
    await leader.start(data);
  });
}

export const leaderKilled = leaderStopped(
  'the NATS server that leads the keys killed, started',
  'kept',
);
export const leaderEmptied = leaderStopped(
  'one of three NATS servers killed, started with an empty disk',
  'gone',
);

export const rollingRestart = clusterFault(
  'rolling restart of three NATS servers',
  async ({ cluster }, run, outageMs) => {
    for (const node of cluster.nodes) {
      await node.server.stop();
      await node.start();
      await cluster.complete();
      await run.outage(outageMs / cluster.nodes.length);
    }
  },
);

export const majorityLost = clusterFault(
  'two of three NATS servers killed, started',
  async ({ cluster }, run, outageMs) => {
    const lost = cluster.nodes.slice(1);
    await Promise.all(lost.map(kill));
    await run.outage(outageMs);
    await Promise.all(lost.map((node) => node.start()));
  },
  true,
);

export const clusterSplit = clusterFault<SplitWorld>(
  'a NATS server with its data plane cut off from the two others',
  async ({ split }, run, outageMs) => {
    await split.begin();
    await run.outage(outageMs);
    await split.heal();
  },
  true,
);

/** The other servers elect a new leader; the old one comes back and must learn of it. */
export const leaderFrozen = [1, 5, 15].map((seconds) =>
  clusterFault(
    `the NATS server that leads the keys frozen for ${seconds} s`,
    async ({ cluster }, run) => {
      const { pid } = (await cluster.leaderOf(KEYS)).server;
      process.kill(pid, 'SIGSTOP');
      try {
        await run.outage(seconds * 1000);
        if (seconds * 1000 >= ELECTION_MS) await run.keysTaken();
      } finally {
        process.kill(pid, 'SIGCONT');
      }
    },
  ),
);
