import { describeFaults } from './harness/describe-suite.ts';
import { regions } from './suites/regions.ts';

describeFaults(regions, 8000);
