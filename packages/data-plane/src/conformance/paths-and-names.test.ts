import { IDENTITY_SUITES, OPEN_ROUTE_SUITES } from './testing/cases/all.ts';
import { runSuites } from './testing/suites.ts';

runSuites(IDENTITY_SUITES);
runSuites(OPEN_ROUTE_SUITES, { auth: { type: 'none' } });
