import { ApiError, type components, type GatewayClient } from './client.ts';
import { countedText } from './measures.ts';
import { lostWays, wayText } from './route-ways.ts';

type Resource = components['schemas']['Route'];
type Route = Pick<Resource, 'name' | 'status' | 'service_id' | 'versions'> & {
  /** Audit events from before routes had the field lack it. */
  readonly match?: Resource['match'];
};

/** What a route sends requests to: one of its versions, or its only service. */
export interface RouteTarget {
  /** undefined: the route has no versions. */
  readonly version: string | undefined;
  readonly serviceId: string;
}

/** How a change of a route takes requests away from whoever gets them now. */
export type LostTraffic =
  /** Its callers get 404, and these ways lead to it no more, as texts. */
  | { readonly kind: 'refused'; readonly ways: readonly string[] }
  /** Only these ways lead to it no more. */
  | { readonly kind: 'unreached'; readonly ways: readonly string[] }
  /** Services that get none of its requests any more, and the only target that gets all; undefined: several do. */
  | {
      readonly kind: 'moved';
      readonly from: readonly RouteTarget[];
      readonly to: RouteTarget | undefined;
    };

/**
 * What a change of a route takes away: it is disabled or renamed, a way does not lead to it any more, or a service loses
 * the last of its requests; the first of these. A share that only grows or shrinks takes nothing away. undefined: nothing.
 */
export function lostTraffic(before: Route, after: Route): LostTraffic | undefined {
  if (before.status === 'disabled') return undefined;
  const ways = waysTexts(before.match, after.status === 'disabled' ? [] : after.match);
  if (after.status === 'disabled' || after.name !== before.name) return { kind: 'refused', ways };
  if (ways.length > 0) return { kind: 'unreached', ways };
  const targets = targetsOf(after);
  const served = new Set(targets.map(({ serviceId }) => serviceId));
  const from = targetsOf(before).filter(({ serviceId }) => !served.has(serviceId));
  if (from.length === 0) return undefined;
  return { kind: 'moved', from, to: targets.length === 1 ? targets[0] : undefined };
}

/** The targets that get requests whose callers do not choose a version. */
function targetsOf({ versions, service_id: serviceId }: Route): readonly RouteTarget[] {
  if (versions === null) return serviceId === null ? [] : [{ version: undefined, serviceId }];
  return versions
    .filter(({ weight }) => weight > 0)
    .map(({ name, service_id }) => ({ version: name, serviceId: service_id }));
}

/** Such as `Requests to /v1/proxy/charges get 404 from now on.` and `canary gets all requests, stable none.` */
export function lossText(
  lost: LostTraffic,
  route: string,
  serviceName: (id: string) => string = (id) => id,
): string {
  if (lost.kind === 'unreached') return lostWaysText(lost.ways, route);
  if (lost.kind === 'refused') {
    const named = `Requests to /v1/proxy/${route} get 404 from now on.`;
    return lost.ways.length === 0 ? named : `${named} ${lostWaysText(lost.ways, route)}`;
  }
  const nameOf = ({ version, serviceId }: RouteTarget) => version ?? serviceName(serviceId);
  const losing = lost.from.map(nameOf).join(' and ');
  if (lost.to === undefined)
    return `${losing} no longer get${lost.from.length === 1 ? 's' : ''} requests.`;
  return `${nameOf(lost.to)} gets all requests, ${losing} none.`;
}

/** The ids of the services that `lossText` names. */
export function lostServices(lost: LostTraffic | undefined): readonly string[] {
  const targets = lost?.kind === 'moved' ? [...lost.from, lost.to] : [];
  return targets.flatMap((one) => (one === undefined || one.version ? [] : [one.serviceId]));
}

const SHOWN_WAYS = 3;

function lostWaysText(ways: readonly string[], route: string): string {
  const shown = ways.slice(0, SHOWN_WAYS);
  const more = ways.length > shown.length ? [`${ways.length - shown.length} more`] : [];
  return `Requests to ${[...shown, ...more].join(' and to ')} no longer reach ${route}.`;
}

/** What the deletion of a route takes away. */
export function lostWithRoute({ match }: Pick<Route, 'match'>): LostTraffic {
  return { kind: 'refused', ways: waysTexts(match, []) };
}

function waysTexts(before: Route['match'] = [], after: Route['match'] = []): readonly string[] {
  return lostWays(before, after).map(wayText);
}

/** Requests that the statistics count. */
export interface TrafficFilter {
  readonly environment: string;
  readonly route?: string;
  readonly service_id?: string;
}

/**
 * How many requests there were in the last hour; undefined if the gateway does not say, such as to a token without
 * `requests:read`: a question must not depend on it. Requests of routes that the token does not cover are not counted, so
 * a token of some routes only is not told how many a service or an environment had.
 * @throws ConnectionError
 */
export async function requestsOfLastHour(
  client: GatewayClient,
  query: TrafficFilter,
  signal?: AbortSignal,
): Promise<number | undefined> {
  try {
    const options = signal && { signal };
    if (query.route === undefined) {
      const { body: caller } = await client.get('/v1/whoami', { ...options });
      if (!caller.data.routes.includes('*')) return undefined;
    }
    const { body } = await client.get('/v1/stats', { params: { query }, ...options });
    return body.data.total.requests;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** Such as `Route charges had 1,481 requests in the last hour.` */
export function trafficText(subject: string, requests: number | undefined): string {
  if (requests === undefined)
    return `How many requests ${subject} had in the last hour is not known.`;
  const count = requests === 0 ? 'no requests' : countedText(requests, 'request');
  const text = `${subject} had ${count} in the last hour.`;
  return text.charAt(0).toUpperCase() + text.slice(1);
}
