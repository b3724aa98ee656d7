import { describeFaults } from './harness/describe-suite.ts';
import { lastGoodChangesTruncated } from './scenarios/last-good-file.ts';
import { badData } from './suites/bad-data.ts';

// delta-file.test.ts tests every place at which such a file may be truncated.
const scenarios = badData.scenarios.filter((one) => one !== lastGoodChangesTruncated);

describeFaults({ ...badData, scenarios }, 500);
