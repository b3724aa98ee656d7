import type { Clock } from '@gateway/shared/clock';
import type { AdaptiveLimits } from '../limits/adaptive/adaptive-limits.ts';
import type { RefusalOptions } from './attempt-outcome.ts';
import type { ServiceBalancers } from './health/service-balancer.ts';
import type { ForwardBodyOptions } from './forwarded-body.ts';

/** What forwarding needs, the same for all requests. */
export interface ForwardingOptions extends ForwardBodyOptions, RefusalOptions {
  readonly adaptiveLimits: AdaptiveLimits;
  readonly balancers: ServiceBalancers;
  readonly clock: Clock;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
}
