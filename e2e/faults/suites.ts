import { runSuite, type SuiteRun } from './harness/run-suite.ts';
import { badData } from './suites/bad-data.ts';
import { links } from './suites/links.ts';
import { natsCluster, splitNatsCluster } from './suites/nats-cluster.ts';
import { postgresPair } from './suites/postgres-pair.ts';
import { processes, stores } from './suites/stores-and-processes.ts';
import { regions } from './suites/regions.ts';
import { upgrades } from './suites/upgrades.ts';
import { upstreamsAndClocks } from './suites/upstreams-and-clocks.ts';

/** All suites, in the order of the table. */
export const SUITES: readonly SuiteRun[] = [
  runSuite(processes),
  runSuite(stores),
  runSuite(postgresPair),
  runSuite(natsCluster),
  runSuite(splitNatsCluster),
  runSuite(regions),
  runSuite(links),
  runSuite(badData),
  runSuite(upstreamsAndClocks),
  runSuite(upgrades),
];
