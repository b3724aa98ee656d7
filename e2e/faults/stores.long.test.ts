import { describeFaults } from './harness/describe-suite.ts';
import { stores } from './suites/stores-and-processes.ts';

describeFaults(stores, 1500);
