import { fieldValue, type HeaderFields } from '@gateway/http/fields/header-fields';
import { callerAddress } from './caller-address.ts';
import { callerPrefix } from './caller-prefix.ts';
import type { RequestContext } from './context.ts';
import { upstreamPath } from './proxy-path.ts';
import { mapCookie, nameOf } from '../locations/map-cookie.ts';
import { mapLink } from '../locations/map-link.ts';
import { mapReference } from '../locations/map-reference.ts';
import { mapRefresh } from '../locations/map-refresh.ts';
import { routeAddresses, type ServiceAddress } from '../locations/route-addresses.ts';

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
  const requestPath = upstreamPath(answering.basePath, rewritten ?? target);
  const [own = answering, ...others] = rewrittenAddresses(answering, upstreams, rewritten);
  const addresses = routeAddresses(callerAddress(ctx), own, others, requestPath);
  const isAtPrefix = target.path === callerPrefix(target, route?.rewrite?.path?.stripPrefix);
  const map = (reference: string) => mapReference(reference, addresses);
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
        return mapCookie(value, addresses, nameOf(answering.host), isAtPrefix);
      default:
        return value;
    }
  };
}

/** The addresses of the service with the prefix that the route adds to paths, and with the host that it sends. */
function rewrittenAddresses(
  answering: ServiceAddress,
  upstreams: readonly ServiceAddress[],
  rewritten: RequestContext['rewritten'],
): readonly ServiceAddress[] {
  const all = [answering, ...upstreams];
  if (rewritten === undefined) return all;
  const { host, addedPrefix } = rewritten;
  if (host !== undefined) {
    const scheme = answering.origin.slice(0, answering.origin.indexOf(':'));
    all.push({ ...answering, host, origin: `${scheme}://${host}` });
  }
  return all.map((one) => ({ ...one, basePath: one.basePath + addedPrefix }));
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
