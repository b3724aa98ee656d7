import { describeFaults } from './harness/describe-suite.ts';
import { upgrades } from './suites/upgrades.ts';

describeFaults(upgrades, 3000);
