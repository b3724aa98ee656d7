import { TRAILER_SUITES } from './cases/all.ts';
import { runSuites } from './suites.ts';

runSuites(TRAILER_SUITES);
