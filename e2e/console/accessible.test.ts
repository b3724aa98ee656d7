import { accessibilityFaults } from './harness/axe.ts';
import { describeAccessible } from './harness/describe-accessible.ts';

describeAccessible('in the light theme, 1280 px wide', accessibilityFaults);
