import type { Route } from '../../../api/client.ts';
import { explainIdempotency, explainLimits, explainQuota, explainRegions } from './access-rules.ts';
import { explainAuthentication } from './authentication.ts';
import type { Policy } from './policy.ts';
import { explainRetries } from './retries.ts';

/** Every policy of a route as it stands, in the order in which a request meets them. */
export function explainPolicies(route: Route): readonly Policy[] {
  return [
    explainAuthentication(route),
    explainLimits(route),
    explainQuota(route),
    explainIdempotency(route),
    explainRetries(route),
    explainRegions(route),
  ];
}
