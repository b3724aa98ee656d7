import { outages } from './groups/outages.ts';
import { describeAlerts } from './harness/describe-alerts.ts';

describeAlerts(outages);
