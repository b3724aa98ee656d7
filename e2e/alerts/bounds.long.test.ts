import { bounds } from './groups/bounds.ts';
import { describeAlerts } from './harness/describe-alerts.ts';

describeAlerts(bounds);
