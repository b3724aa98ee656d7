import { describeFaults } from './harness/describe-suite.ts';
import { postgresPair } from './suites/postgres-pair.ts';

describeFaults(postgresPair, 2000);
