import { fieldValue, type HeaderFields } from '@gateway/http/fields/header-fields';
import { callerAddress } from './caller-address.ts';
import { isAtCallerPrefix } from './caller-prefix.ts';
import type { RequestContext } from './context.ts';
import { mapCookie, nameOf } from '../locations/map-cookie.ts';
import { mapLink } from '../locations/map-link.ts';
import { mapReference } from '../locations/map-reference.ts';
import { mapRefresh } from '../locations/map-refresh.ts';
import {
  routeAddresses,
  type CallerAddress,
  type RouteAddresses,
  type ServiceAddress,
} from '../locations/route-addresses.ts';

/** A stored response has the address of its upstream under this name. It never leaves the gateway. */
const UPSTREAM_FIELD = 'x-gateway-upstream';

/** The fields of a response, its addresses mapped back to how the caller reached the route. Other fields stay. */
export function mapLocations(fields: HeaderFields, ctx: RequestContext): HeaderFields {
  const upstreams = ctx.version?.service.upstreams ?? [];
  const answering = storedUpstream(fields) ?? ctx.upstream ?? upstreams[0];
  if (answering === undefined) return fields;
  const map = mapperOf(ctx, answering, upstreams);
  let mapped: string[] | undefined;
  for (let at = 1; at < fields.length; at += 2) {
    const value = fields[at] ?? '';
    const after = map(fields[at - 1] ?? '', value);
    if (after === value) continue;
    mapped ??= [...fields];
    mapped[at] = after;
  }
  if (mapped === undefined) return fields;
  ctx.applied('locations');
  return mapped;
}

/** Maps the value of one field. */
function mapperOf(
  ctx: RequestContext,
  answering: ServiceAddress,
  upstreams: readonly ServiceAddress[],
): (name: string, value: string) => string {
  const { target, route, rewritten } = ctx;
  const addresses = addressesOf(ctx, answering, upstreams);
  const reached = {
    isAtPrefix: isAtCallerPrefix(target, route?.rewrite?.path?.stripPrefix),
    isByName: target.way === undefined,
  };
  const hosts = [answering.host, rewritten?.host ?? answering.host].map(nameOf);
  const map = hasOnePath(ctx)
    ? (reference: string) => reference
    : (reference: string) => mapReference(reference, addresses);
  return (name, value) => {
    switch (name.toLowerCase()) {
      case 'location':
      case 'content-location':
        return map(value);
      case 'link':
        return mapLink(value, map);
      case 'refresh':
        return mapRefresh(value, map);
      case 'set-cookie':
        return mapCookie(value, addresses, hosts, reached);
      default:
        return value;
    }
  };
}

/** Whether the upstream gets one path, whatever the caller asks for: then no address leads to another path of it. */
export function hasOnePath({ route }: Pick<RequestContext, 'route'>): boolean {
  return route?.rewrite?.path?.path !== undefined;
}

/**
 * What the path of the service has behind that of the URL of an upstream: what the route puts before the path of the
 * caller, or the one path that the upstream gets. Without a slash at its end.
 */
export function servicePathBehindUrl(ctx: Pick<RequestContext, 'route' | 'rewritten'>): string {
  const { subPath = '', addedPrefix = '' } = ctx.rewritten ?? {};
  if (!hasOnePath(ctx)) return addedPrefix;
  return subPath.endsWith('/') ? subPath.slice(0, -1) : subPath;
}

/** How a request reached the route and its upstream, without what differs from one upstream to another. */
interface Reach {
  readonly caller: CallerAddress;
  /** The host that the route sends; undefined: that of the URL of the upstream. */
  readonly host: string | undefined;
  /** See `servicePathBehindUrl`. */
  readonly behind: string;
}

interface KnownAddresses extends Reach {
  readonly addresses: RouteAddresses;
}

/** Those of the last caller of each upstream, because most callers reach a service in the same way. */
const known = new WeakMap<ServiceAddress, KnownAddresses>();

function addressesOf(
  ctx: RequestContext,
  answering: ServiceAddress,
  upstreams: readonly ServiceAddress[],
): RouteAddresses {
  const caller = callerAddress(ctx);
  const reach = { caller, host: ctx.rewritten?.host, behind: servicePathBehindUrl(ctx) };
  const last = known.get(answering);
  if (last !== undefined && isSame(last, reach)) return last.addresses;
  const addresses = routeAddresses(caller, upstreamsAs(reach, [answering, ...upstreams]));
  known.set(answering, { ...reach, addresses });
  return addresses;
}

function isSame(one: Reach, other: Reach): boolean {
  return (
    one.host === other.host &&
    one.behind === other.behind &&
    one.caller.authority === other.caller.authority &&
    one.caller.prefix === other.caller.prefix &&
    one.caller.scheme === other.caller.scheme
  );
}

/** With what the route puts before paths, and with the host that it sends. */
function upstreamsAs(
  { host, behind }: Reach,
  upstreams: readonly ServiceAddress[],
): readonly ServiceAddress[] {
  const all = upstreams.map(({ origin, host: own, basePath }) => {
    return { origin, host: own, basePath: basePath + behind };
  });
  return host === undefined ? all : [...all, ...all.map((one) => ({ ...one, host }))];
}

/** The fields of a response as they are stored for replays: unmapped, because each caller may reach the route in another way. */
export function storedFields(
  fields: HeaderFields,
  { route, upstream }: RequestContext,
): HeaderFields {
  const isMapped = route?.settings.locations === 'map' && upstream !== undefined;
  return isMapped ? [...fields, UPSTREAM_FIELD, upstream.url] : fields;
}

function storedUpstream(fields: HeaderFields): ServiceAddress | undefined {
  const url = URL.parse(fieldValue(fields, UPSTREAM_FIELD) ?? '');
  if (url === null) return undefined;
  const basePath = url.pathname.endsWith('/') ? url.pathname.slice(0, -1) : url.pathname;
  return { origin: url.origin, host: url.host, basePath };
}
