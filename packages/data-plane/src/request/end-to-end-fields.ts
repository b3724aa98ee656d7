import { eachField, filterFields, type HeaderFields } from '@gateway/http/fields/header-fields';
import { cacheByName } from '@gateway/http/fields/name-cache';
import { PassedFields } from '@gateway/http/message/message-writer';
import { cacheByFields } from '@gateway/http/message/repeated-fields';
import { HEADER, HOP_BY_HOP_FIELDS, UPSTREAM_NAMES } from '@gateway/shared/http/headers';
import type { RequestContext } from './context.ts';
import { replacedCors, withoutCors, withoutUpstreamCors } from './cors-fields.ts';
import { withoutNamed } from './inbound-headers.ts';
import { mapLocations } from './response-locations.ts';
import { rewriteFields, withoutDropped } from './rewrite/rewrite-fields.ts';
import { announcedTrailers, endToEndTrailers, takesTrailers, withoutRemoved } from './trailers.ts';
import type { UpstreamResponse } from './upstream-response.ts';

/* The fields of a response that its upstream sent, and its trailers, as they go on to the caller. */

type ResponseStart = Pick<UpstreamResponse, 'status' | 'fields'>;

/** Statuses without a body (RFC 9110 section 6.4.1, and 205 by section 15.3.6). */
const BODILESS = new Set([204, 205, 304]);
const HOP_BY_HOP = new Set(HOP_BY_HOP_FIELDS);
const OWN = new Set<string>(Object.values(HEADER));
const GATEWAY_PREFIX = 'x-gateway-';
const RENAMED = new Map(Object.entries(UPSTREAM_NAMES));
/** What may have an address of the upstream. */
const LOCATIONS = new Set(['location', 'content-location', 'link', 'refresh', 'set-cookie']);
const NEW_NAMES = new Set(Object.values(UPSTREAM_NAMES).map((name) => name.toLowerCase()));

/**
 * How a response field is handled, by its name. `own` are the gateway's, which no upstream may set; `renamed` too, but
 * they go on under another name; `farther` have such a name already, from a gateway behind this one.
 */
type ResponseFieldHandling =
  | ('connection' | 'trailer' | 'dropped')
  | ('own' | 'renamed' | 'farther' | 'location' | 'passed');

const handlingOf = cacheByName((rawName): ResponseFieldHandling => {
  const name = rawName.toLowerCase();
  if (name === 'connection' || name === 'trailer') return name;
  if (HOP_BY_HOP.has(name)) return 'dropped';
  if (RENAMED.has(name)) return 'renamed';
  if (NEW_NAMES.has(name)) return 'farther';
  if (LOCATIONS.has(name)) return 'location';
  return OWN.has(name) || name.startsWith(GATEWAY_PREFIX) ? 'own' : 'passed';
});

/** The end-to-end fields of a response that is not of an upstream but of the control plane, as they came. */
export function controlPlaneFields(raw: HeaderFields): string[] {
  const fields: string[] = [];
  let connection = '';
  eachField(raw, (rawName, value) => {
    const handling = handlingOf(rawName);
    if (handling === 'connection') connection += `,${value}`;
    else if (handling !== 'dropped' && handling !== 'trailer') fields.push(rawName, value);
  });
  return withoutNamed(fields, connection);
}

/** Where the request id that the upstream gave its response is noted. */
export interface UpstreamIds {
  upstreamRequestId: string | undefined;
}

/**
 * The end-to-end fields of an upstream's response. Those whose names the gateway uses itself get the names in
 * `UPSTREAM_NAMES`. If the upstream is such a gateway too, they speak of the upstream, not of what is behind it.
 */
export function endToEndFields(raw: HeaderFields, ids?: UpstreamIds): HeaderFields {
  const { passed, requestId } = passedOf(raw);
  if (ids !== undefined) ids.upstreamRequestId ??= requestId;
  return passed.fields;
}

/** As `endToEndFields`, to be sent on to a caller, with addresses and other fields as the route has them. */
export function passedFields(response: ResponseStart, ctx: RequestContext): PassedFields {
  const { passed, requestId, hasLocation, connection, trailer } = passedOf(response.fields);
  ctx.upstreamRequestId ??= requestId;
  const fields = routeFields(response.fields, passed, hasLocation, ctx);
  if (trailer === undefined || !mayHaveTrailers(ctx, response.status, fields)) return fields;
  const announced = announcedTrailers(ctx, trailer, connection);
  if (announced === undefined) return fields;
  return new PassedFields([...fields.fields, 'Trailer', announced]);
}

/** RFC 9112 section 6.1: over HTTP/1.1 only a body in chunks has trailers. */
function mayHaveTrailers(
  ctx: RequestContext,
  status: number,
  { hasLength }: PassedFields,
): boolean {
  const hasBody = ctx.method !== 'HEAD' && !BODILESS.has(status);
  return takesTrailers(ctx) && hasBody && (!hasLength || ctx.httpVersion !== '1.1');
}

/** The trailers of a response, as its caller gets them; undefined: none. */
export function passedTrailers(
  response: ResponseStart,
  trailers: HeaderFields,
  ctx: RequestContext,
): HeaderFields | undefined {
  if (!takesTrailers(ctx)) return undefined;
  return withoutRemoved(ctx, keptTrailers(response, trailers, ctx));
}

/** As `passedTrailers`, for any caller, and before the route removes any. */
export function keptTrailers(
  { fields }: Pick<ResponseStart, 'fields'>,
  trailers: HeaderFields,
  ctx: RequestContext,
): HeaderFields | undefined {
  return endToEndTrailers(ctx, trailers, passedOf(fields).connection);
}

function routeFields(
  raw: HeaderFields,
  passed: PassedFields,
  hasLocation: boolean,
  ctx: RequestContext,
): PassedFields {
  const isMapped = hasLocation && ctx.route?.settings.locations === 'map';
  const rules = ctx.route?.rewrite?.responseFields;
  const cors = ctx.route?.cors;
  if (!isMapped && rules === undefined) {
    return cors === undefined ? passed : replacedCors(raw, passed, cors);
  }
  const mapped = isMapped ? mapLocations(passed.fields, ctx) : passed.fields;
  const rewritten = rules === undefined ? mapped : rewriteFields(mapped, rules, ctx);
  return new PassedFields(cors === undefined ? rewritten : withoutUpstreamCors(rewritten, cors));
}

const passedOf = cacheByFields((raw) => {
  const fields: string[] = [];
  let connection = '';
  let requestId: string | undefined;
  let trailer: string | undefined;
  let hasLocation = false;
  /** Both are rare. */
  let renamed: Set<string> | undefined;
  let farther: string[] | undefined;
  eachField(raw, (rawName, value) => {
    const handling = handlingOf(rawName);
    if (handling === 'passed') fields.push(rawName, value);
    else if (handling === 'location') {
      hasLocation = true;
      fields.push(rawName, value);
    } else if (handling === 'connection') connection += `,${value}`;
    else if (handling === 'trailer')
      trailer = trailer === undefined ? value : `${trailer},${value}`;
    else if (handling === 'farther') (farther ??= []).push(rawName, value);
    else if (handling === 'renamed') {
      const name = rawName.toLowerCase();
      const newName = RENAMED.get(name) ?? rawName;
      if (name === HEADER.requestId) requestId ??= value;
      (renamed ??= new Set()).add(newName.toLowerCase());
      fields.push(newName, value);
    }
  });
  if (farther !== undefined) {
    eachField(farther, (rawName, value) => {
      if (renamed?.has(rawName.toLowerCase()) !== true) fields.push(rawName, value);
    });
  }
  const endToEnd = new PassedFields(withoutNamed(fields, connection));
  return { passed: endToEnd, requestId, hasLocation, connection, trailer };
});

/** A 1xx has no length (RFC 9110 section 8.6). A cookie would be stored, whatever the final response says. */
const NOT_IN_HINTS = new Set(['content-length', 'set-cookie']);

/** The fields of a 103 of an upstream that its caller gets. */
export function hintFields(raw: HeaderFields, ctx: RequestContext): HeaderFields {
  const { affinity, upstream } = ctx;
  const outward = affinity && upstream ? affinity.outward(raw, upstream) : raw;
  const passed = endToEndFields(outward);
  const kept = filterFields(passed, (name) => !NOT_IN_HINTS.has(name.toLowerCase()));
  const rules = ctx.route?.rewrite?.responseFields;
  const allowed = ctx.route?.cors === undefined ? kept : withoutCors(kept);
  const fields = rules === undefined ? allowed : withoutDropped(allowed, rules);
  return ctx.route?.settings.locations === 'map' ? mapLocations(fields, ctx) : fields;
}
