import { processes } from './groups/processes.ts';
import { describeAlerts } from './harness/describe-alerts.ts';

describeAlerts(processes);
