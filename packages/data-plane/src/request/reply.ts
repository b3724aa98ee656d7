import type { ServerExchange } from '@gateway/http/exchange';
import { eachField, filterFields, type HeaderFields } from '@gateway/http/fields/header-fields';
import { cacheByName } from '@gateway/http/fields/name-cache';
import { PassedFields } from '@gateway/http/message/message-writer';
import { cacheByFields } from '@gateway/http/message/repeated-fields';
import type { Clock } from '@gateway/shared/clock';
import type { FixedWindow } from '@gateway/shared/fixed-window';
import { HEADER, HOP_BY_HOP_FIELDS, UPSTREAM_NAMES } from '@gateway/shared/http/headers';
import { decimalText } from '../text/decimal-text.ts';
import type { RequestContext } from './context.ts';
import { addCors, replacedCors, withoutCors, withoutUpstreamCors } from './cors-fields.ts';
import { withoutNamed } from './inbound-headers.ts';
import { mapLocations } from './response-locations.ts';
import { rewriteFields, withoutDropped } from './rewrite/rewrite-fields.ts';
import type { Handling, Reply } from './stage.ts';

/* The head of each reply: the fields that an upstream sent, and those of the gateway itself. */

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
const handlingOf = cacheByName(
  (rawName): 'connection' | 'dropped' | 'own' | 'renamed' | 'farther' | 'location' | 'passed' => {
    const name = rawName.toLowerCase();
    if (name === 'connection') return name;
    if (HOP_BY_HOP.has(name)) return 'dropped';
    if (RENAMED.has(name)) return 'renamed';
    if (NEW_NAMES.has(name)) return 'farther';
    if (LOCATIONS.has(name)) return 'location';
    return OWN.has(name) || name.startsWith(GATEWAY_PREFIX) ? 'own' : 'passed';
  },
);

/** The end-to-end fields of a response that is not of an upstream but of the control plane, as they came. */
export function controlPlaneFields(raw: HeaderFields): string[] {
  const fields: string[] = [];
  let connection = '';
  eachField(raw, (rawName, value) => {
    const handling = handlingOf(rawName);
    if (handling === 'connection') connection += `,${value}`;
    else if (handling !== 'dropped') fields.push(rawName, value);
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
function passedFields(raw: HeaderFields, ctx: RequestContext): PassedFields {
  const { passed, requestId, hasLocation } = passedOf(raw);
  ctx.upstreamRequestId ??= requestId;
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
  return { passed: new PassedFields(withoutNamed(fields, connection)), requestId, hasLocation };
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

/** The fields that every response of a data plane carries. */
export function gatewayFields(id: string, gatewayUs: number, window: FixedWindow): string[] {
  return [
    'X-Request-Id',
    id,
    'X-Gateway-Latency',
    String(Math.round(gatewayUs / 1000)),
    'X-RateLimit-Limit',
    String(window.limit),
    'X-RateLimit-Remaining',
    decimalText(window.remaining),
    'X-RateLimit-Reset',
    String(window.resetSeconds),
  ];
}

export interface RespondOptions {
  readonly clock: Clock;
  /** The failed authentications that an address has left; shown while no route is known. */
  readonly failureAllowance: (address: string, nowMs: number) => FixedWindow;
  /** Whether to close connections because the process is stopping. */
  readonly draining: () => boolean;
}

/** The fields of a response of an upstream. */
export function upstreamFields(
  options: RespondOptions,
): Pick<Handling, 'passFields' | 'addFields'> {
  return {
    passFields: (ctx, { fields }) => passedFields(fields, ctx),
    addFields(ctx, status) {
      const fields = respondHead(ctx, status, options);
      const cors = ctx.route?.cors;
      if (cors !== undefined) addCors(ctx, cors, fields);
      return fields;
    },
  };
}

/** Answers as a stage says. */
export function respondWith(
  ctx: RequestContext,
  exchange: ServerExchange,
  { status, statusText, fields, body }: Reply,
  options: RespondOptions,
): void {
  const own = respondHead(ctx, status, options);
  const isBodiless = body.length === 0;
  const passed = endToEndFields(fields, ctx);
  // The answer to a preflight has its own.
  const cors = ctx.kind === 'preflight' ? undefined : ctx.route?.cors;
  if (cors !== undefined) addCors(ctx, cors, own);
  const replaced = cors === undefined ? passed : withoutUpstreamCors(passed, cors);
  exchange.respond(status, statusText, replaced.concat(own), isBodiless);
  if (isBodiless) return;
  ctx.responseBytes += body.length;
  exchange.send(body, true);
}

/** Returns the gateway's own fields, and stores the status and the time. From here on the response is being sent. */
export function respondHead(
  ctx: RequestContext,
  status: number,
  options: RespondOptions,
): string[] {
  ctx.status = status;
  const { times } = ctx;
  times.enter('sending', options.clock.monotonicMs());
  ctx.firstByteMs = (times.totalUs - times.receivingUs) / 1000;
  const window = ctx.quota ?? options.failureAllowance(ctx.clientIp, options.clock.nowMs());
  const fields = gatewayFields(ctx.id, times.gatewayUs, window);
  const cookie = ctx.affinity?.newCookie;
  if (cookie !== undefined) fields.push('Set-Cookie', cookie);
  if (options.draining() || ctx.leavesHttp || awaitsContinue(ctx)) {
    fields.push('Connection', 'close');
  }
  return fields;
}

/**
 * Whether the caller still waits for `100 Continue`. It may send the body or not, so the next bytes on
 * the connection may be the body or a new request (RFC 9110 section 10.1.1).
 */
function awaitsContinue(ctx: RequestContext): boolean {
  return ctx.inbound.expectContinue && !ctx.body.taken && !ctx.body.empty;
}
