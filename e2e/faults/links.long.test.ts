import { describeFaults } from './harness/describe-suite.ts';
import { links } from './suites/links.ts';

describeFaults(links, 3000);
