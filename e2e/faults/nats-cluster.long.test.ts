import { describeFaults } from './harness/describe-suite.ts';
import { natsCluster, splitNatsCluster } from './suites/nats-cluster.ts';

describeFaults(natsCluster, 3000);
describeFaults(splitNatsCluster, 8000);
