import { RESPONSE_SUITES } from './cases/all.ts';
import { runSuites } from './suites.ts';

runSuites(RESPONSE_SUITES);
