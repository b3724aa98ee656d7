import { describeFaults } from './harness/describe-suite.ts';
import { lastGoodChangesTruncated } from './scenarios/last-good-file.ts';
import { badData } from './suites/bad-data.ts';

// delta-file.test.ts has what is read of such a file, wherever it is cut off.
const scenarios = badData.scenarios.filter((one) => one !== lastGoodChangesTruncated);

describeFaults({ ...badData, scenarios }, 500);
