import { FIELDS_SUITES } from './cases/all.ts';
import { runSuites } from './suites.ts';

runSuites(FIELDS_SUITES);
