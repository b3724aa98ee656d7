import { faultsInAllLooks } from './harness/axe.ts';
import { describeAccessible } from './harness/describe-accessible.ts';

describeAccessible('in both themes, 1280 and 390 px wide', faultsInAllLooks);
