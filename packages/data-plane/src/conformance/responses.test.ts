import { RESPONSES } from './testing/cases/responses.ts';
import { runSuite } from './testing/suites.ts';

runSuite({ name: 'responses of the upstream', cases: RESPONSES });
