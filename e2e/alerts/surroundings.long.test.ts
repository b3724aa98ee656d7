import { surroundings } from './groups/surroundings.ts';
import { describeAlerts } from './harness/describe-alerts.ts';

describeAlerts(surroundings);
