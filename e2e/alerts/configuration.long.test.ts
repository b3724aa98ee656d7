import { configuration } from './groups/configuration.ts';
import { describeAlerts } from './harness/describe-alerts.ts';

describeAlerts(configuration);
