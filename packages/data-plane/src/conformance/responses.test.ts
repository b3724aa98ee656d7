import { RESPONSE_SUITES } from './testing/cases/all.ts';
import { runSuites } from './testing/suites.ts';

runSuites(RESPONSE_SUITES);
