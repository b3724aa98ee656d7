import {
  startClusterWorld,
  startSplitWorld,
  type ClusterWorld,
  type SplitWorld,
} from '../harness/cluster-world.ts';
import type { FaultSuite } from '../harness/scenario.ts';
import {
  clusterSplit,
  eachNodeKilled,
  leaderEmptied,
  leaderFrozen,
  leaderKilled,
  majorityLost,
  rollingRestart,
} from '../scenarios/nats-cluster.ts';

/** NATS is a cluster of three servers, and some of them fail. */
export const natsCluster: FaultSuite<ClusterWorld> = {
  name: 'NATS cluster',
  open: startClusterWorld,
  scenarios: [
    eachNodeKilled,
    leaderKilled,
    ...leaderFrozen,
    leaderEmptied,
    rollingRestart,
    majorityLost,
  ],
};

/** The servers of a NATS cluster do not reach each other. */
export const splitNatsCluster: FaultSuite<SplitWorld> = {
  name: 'split NATS cluster',
  open: startSplitWorld,
  scenarios: [clusterSplit],
};
