import type { Route } from '../../../api/client.ts';
import {
  explainIdempotency,
  explainLimits,
  explainLog,
  explainMethods,
  explainQuota,
  explainRegions,
} from './access-rules.ts';
import { explainAuthentication } from './authentication.ts';
import { explainBodyTimes } from './body-times.ts';
import { explainBrowsers } from './browsers.ts';
import type { Policy } from './policy.ts';
import { explainRetries } from './retries.ts';
import { explainRewriting } from './rewriting.ts';
import { explainSessions } from './sessions.ts';

/** The policies of a route, in the order in which they apply to a request: of one that answers itself those that do. */
export function explainPolicies(route: Route): readonly Policy[] {
  const hasAnswer = route.respond !== null || route.redirect !== null;
  const policies = [
    explainAuthentication(route),
    hasAnswer ? explainMethods(route) : explainLimits(route),
    explainBrowsers(route),
    ...(hasAnswer ? [explainQuota(route)] : ofService(route)),
    explainLog(route),
  ];
  return policies.filter((policy) => policy !== undefined);
}

/** What has an effect on requests that go to a service. */
function ofService(route: Route): readonly (Policy | undefined)[] {
  return [
    explainRewriting(route),
    explainQuota(route),
    explainIdempotency(route),
    explainRetries(route),
    explainBodyTimes(route),
    explainRegions(route),
    explainSessions(route),
  ];
}
