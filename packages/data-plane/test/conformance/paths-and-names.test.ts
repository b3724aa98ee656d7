import { IDENTITY_SUITES, OPEN_ROUTE_SUITES } from './cases/all.ts';
import { runSuites } from './suites.ts';

runSuites(IDENTITY_SUITES);
runSuites(OPEN_ROUTE_SUITES, { auth: { type: 'none' } });
