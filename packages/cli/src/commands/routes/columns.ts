import { amountText } from '@gateway/client/amounts';
import { countText, msText, shareText } from '@gateway/client/measures';
import type { components } from '@gateway/client';
import { waysOf, wayText } from '@gateway/client/route-ways';
import type { NameOf } from '../../lookup/resource-names.ts';
import { styleOfWord } from '../../output/meanings.ts';
import type { Column } from '../../output/table.ts';
import type { TrafficOf } from './route-traffic.ts';

type Route = components['schemas']['Route'];

/** @param trafficOf undefined: without columns of traffic */
export const routeColumns = (
  nameOf: NameOf,
  trafficOf: TrafficOf | undefined,
): readonly Column<Route>[] => [
  { title: 'NAME', of: ({ name }) => name },
  { title: 'ENVIRONMENT', leftOut: 1, of: ({ environment }) => environment },
  { title: 'STATUS', of: ({ status }) => status, style: ({ status }) => styleOfWord(status) },
  ...(trafficOf === undefined ? [] : trafficColumns(trafficOf)),
  { title: 'SERVES', shrinks: 20, of: (route) => servedBy(route, nameOf) },
  { title: 'REACHED AT', shrinks: 24, of: reachedAt },
  { title: 'AUTH', leftOut: 2, of: ({ auth }) => auth.type },
  { title: 'QUOTA', shrinks: 26, of: quotaOf },
  { title: 'ID', wide: true, of: ({ id }) => id },
  { title: 'SERVICE ID', wide: true, of: ({ service_id }) => service_id },
  { title: 'TIMEOUT', wide: true, of: ({ timeout_ms }) => amountText(timeout_ms, 'ms') },
  { title: 'RETRIES', wide: true, of: ({ retry_count }) => retry_count },
  { title: 'REVISION', wide: true, of: ({ revision }) => revision },
  { title: 'UPDATED', wide: true, of: ({ updated_at }) => updated_at },
];

/** Of the last hour. */
const trafficColumns = (trafficOf: TrafficOf): readonly Column<Route>[] => [
  { title: 'REQUESTS', of: (route) => countText(trafficOf(route)?.requests ?? 0) },
  {
    title: 'ERROR RATE',
    of(route) {
      const counted = trafficOf(route);
      return counted === undefined ? null : shareText(counted.errors / counted.requests);
    },
    style: (route) => ((trafficOf(route)?.errors ?? 0) > 0 ? 'red' : undefined),
  },
  {
    title: 'P95',
    of(route) {
      const ms = trafficOf(route)?.p95_ms ?? null;
      return ms === null ? null : msText(ms);
    },
  },
];

/** The service, the share of each version (`v1 90, v2 10`), or the answer of the gateway. */
function servedBy(
  { service_id, versions, respond, redirect }: Route,
  nameOf: NameOf,
): string | null {
  if (respond !== null) return `answers ${respond.status}`;
  if (redirect !== null) return `redirects to ${redirect.location}`;
  if (versions === null) return nameOf(service_id);
  return versions.map(({ name, weight }) => `${name} ${weight}`).join(', ');
}

/** The first host and path, and how many more there are; else the path with the name. */
function reachedAt({ name, match }: Route): string {
  const [first, ...others] = waysOf(match).map(wayText);
  if (first === undefined) return `/v1/proxy/${name}`;
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

function quotaOf({ rate_limit: { limit, window_seconds, per } }: Route): string {
  return `${countText(limit)} per ${per} in ${amountText(window_seconds, 'seconds')}`;
}
