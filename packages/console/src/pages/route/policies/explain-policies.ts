import type { Route } from '../../../api/client.ts';
import {
  explainIdempotency,
  explainLimits,
  explainLog,
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

/** The policies of a route, in the order in which they apply to a request. */
export function explainPolicies(route: Route): readonly Policy[] {
  const sessions = explainSessions(route);
  const rewriting = explainRewriting(route);
  const browsers = explainBrowsers(route);
  return [
    explainAuthentication(route),
    explainLimits(route),
    ...(browsers === undefined ? [] : [browsers]),
    ...(rewriting === undefined ? [] : [rewriting]),
    explainQuota(route),
    explainIdempotency(route),
    explainRetries(route),
    explainBodyTimes(route),
    explainRegions(route),
    ...(sessions === undefined ? [] : [sessions]),
    explainLog(route),
  ];
}
