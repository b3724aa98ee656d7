import { ApiError, type components, type GatewayClient } from './client.ts';

type Route = Pick<components['schemas']['Route'], 'name' | 'status' | 'service_id' | 'versions'>;

/** What a route sends requests to: one of its versions, or its only service. */
export interface RouteTarget {
  /** undefined: the route has no versions. */
  readonly version: string | undefined;
  readonly serviceId: string;
}

/** How a change of a route takes requests away from whoever gets them now. */
export type LostTraffic =
  /** Its callers get 404. */
  | { readonly kind: 'refused' }
  /** Services that get none of its requests any more, and the only target that gets all; undefined: several do. */
  | {
      readonly kind: 'moved';
      readonly from: readonly RouteTarget[];
      readonly to: RouteTarget | undefined;
    };

/**
 * What a change of a route takes away: it is disabled or renamed, or a service loses the last of its requests. A share
 * that only grows or shrinks takes nothing away. undefined: nothing.
 */
export function lostTraffic(before: Route, after: Route): LostTraffic | undefined {
  if (before.status === 'disabled') return undefined;
  if (after.status === 'disabled' || after.name !== before.name) return { kind: 'refused' };
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
  if (lost.kind === 'refused') return `Requests to /v1/proxy/${route} get 404 from now on.`;
  const nameOf = ({ version, serviceId }: RouteTarget) => version ?? serviceName(serviceId);
  const losing = lost.from.map(nameOf).join(' and ');
  if (lost.to === undefined)
    return `${losing} no longer get${lost.from.length === 1 ? 's' : ''} requests.`;
  return `${nameOf(lost.to)} gets all requests, ${losing} none.`;
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
  const count = requests === 0 ? 'no' : requests.toLocaleString('en');
  const text = `${subject} had ${count} request${requests === 1 ? '' : 's'} in the last hour.`;
  return text.charAt(0).toUpperCase() + text.slice(1);
}
