import type { ClientRequest } from '@gateway/http/exchange';
import { announcedLength } from '@gateway/http/message/framing';
import { filterFields, withoutField, type HeaderFields } from '@gateway/http/fields/header-fields';
import { foldedName, HEADER } from '@gateway/shared/http/headers';
import { credentialHoldsTokenSecret, holdsTokenSecret } from '@gateway/shared/tokens/secret';
import type { UsableCredential } from '../routing-table/compile-credential.ts';
import { addressFields, callerHost, callerScheme, forwardedAddress } from './caller-address.ts';
import type { RequestContext } from './context.ts';
import { cacheByFields } from '@gateway/http/message/repeated-fields';
import { ForwardedFields } from '@gateway/http/message/message-writer';
import { rewriteFields } from './rewrite/rewrite-fields.ts';
import { grpcTimeoutText } from '../text/grpc-timeout.ts';
import { affectsForwarded, forwardedFields, type InboundHeaders } from './inbound-headers.ts';
import { bodyToSend } from './outbound-body.ts';
import { upstreamPath } from './proxy-path.ts';
import type { TakenBody } from './request-body.ts';
import { takesTrailers } from './trailers.ts';
import type { ResponseReceiver } from './upstream-response.ts';
import type { CompiledUpstream } from '../routing-table/routing-table.ts';

/** How the gateway names itself in `CDN-Loop` (RFC 8586 section 2) and, after a version, in `Via`. */
export const PSEUDONYM = 'gateway';
/** `Via` of most requests (RFC 9110 section 7.6.3). */
const VIA = `1.1 ${PSEUDONYM}`;

/**
 * The header fields for the upstream: the caller's end-to-end fields, and what the gateway says about the caller.
 * `X-Forwarded-*` of the caller counts only if a trusted proxy sent it. A credential for the gateway is never forwarded;
 * a credential for the upstream is, unless the service has its own under that name.
 *
 * @throws Error if the service has a credential that cannot be used: nothing may be sent without it
 */
export function outboundHeaders(ctx: RequestContext): HeaderFields {
  const fields = callerFields(ctx).concat(addedFields(ctx));
  return mapsLocations(ctx) ? fields.concat(addressFields(ctx)) : fields;
}

/** Those outbound fields that are the same for many requests: the caller's, and those of its address. */
export function passedFields(ctx: RequestContext): readonly ForwardedFields[] {
  const { inbound } = ctx;
  const passed = passesAll(ctx)
    ? allFields(inbound.raw, inbound, inbound.common)
    : [new ForwardedFields(callerFields(ctx))];
  return mapsLocations(ctx) ? [...passed, forwardedAddress(ctx)] : passed;
}

function mapsLocations({ route }: RequestContext): boolean {
  return route?.settings.locations === 'map';
}

const allFields = cacheByFields(
  (_raw, inbound: InboundHeaders) => [new ForwardedFields(forwardedFields(inbound))],
  affectsForwarded,
);

function passesAll(ctx: RequestContext): boolean {
  const { apiKey } = ctx.inbound;
  return (
    apiKey === undefined &&
    ctx.affinity === undefined &&
    ctx.maxForwards === undefined &&
    ctx.route?.rewrite?.requestFields === undefined &&
    credentialOf(ctx) === undefined &&
    !sendsVia(ctx)
  );
}

function callerFields(ctx: RequestContext): string[] {
  const { inbound, maxForwards } = ctx;
  const { apiKey } = inbound;
  const credential = credentialOf(ctx);
  const rules = ctx.route?.rewrite?.requestFields;
  let fields = forwardedFields(inbound);
  if (rules !== undefined) fields = rewriteFields(fields, rules, ctx);
  if (apiKey !== undefined && isOurApiKey(ctx, apiKey)) fields = withoutField(fields, 'x-api-key');
  if (sendsVia(ctx)) fields = withoutField(fields, 'via');
  if (ctx.affinity !== undefined) fields = ctx.affinity.inward(fields);
  if (credential !== undefined) fields = withoutAlias(fields, credential.foldedHeader);
  if (maxForwards === undefined) return fields;
  return withoutField(fields, 'max-forwards').concat('max-forwards', String(maxForwards));
}

/** The header fields of a retry: each attempt of a sampled request is a span of its own. */
export function retryHeaders(ctx: RequestContext, fields: HeaderFields): HeaderFields {
  const { sampled } = ctx.trace;
  if (sampled === undefined) return fields;
  const next = fields.slice();
  // The caller's own field was removed, so there is one.
  for (let at = 0; at < next.length; at += 2) {
    if (next[at] === 'traceparent') next[at + 1] = sampled.nextTraceparent();
  }
  return next;
}

/**
 * The fields of one attempt at a gRPC call: with what is left of its time, so that the upstream ends what nobody awaits. On
 * a route of streams that is the time of the caller alone.
 *
 * @param fields those that all attempts have
 * @param nowMs of the monotonic clock
 */
export function attemptFields(
  ctx: RequestContext,
  fields: HeaderFields,
  nowMs: number,
): HeaderFields {
  if (!ctx.inbound.isGrpc) return fields;
  const isStream = ctx.route?.settings.streaming === true;
  const deadlineMs = isStream ? ctx.callerDeadlineMs : ctx.deadlineMs;
  return deadlineMs === Infinity
    ? fields
    : fields.concat('grpc-timeout', grpcTimeoutText(deadlineMs - nowMs));
}

/** Those outbound fields that the gateway sets, but those of the caller's address. */
export function addedFields(ctx: RequestContext): HeaderFields {
  const { inbound } = ctx;
  const credential = credentialOf(ctx);
  const trusted = ctx.fromTrustedProxy;
  const fields = [
    'x-forwarded-for',
    forwardedFor(ctx),
    'x-forwarded-proto',
    trusted ? callerScheme(ctx) : ctx.protocol,
    'cdn-loop',
    cdnLoopOf(ctx),
    'traceparent',
    ctx.trace.traceparent,
    HEADER.requestId,
    ctx.id,
  ];
  if (sendsVia(ctx)) fields.push('via', viaOf(ctx));
  if (credential !== undefined) fields.push(credential.header, credential.value);
  const authorization = passedAuthorization(ctx, credential);
  if (authorization !== undefined) fields.push('authorization', authorization);
  const subject = ctx.jwt?.subjectField;
  if (subject !== undefined) fields.push(HEADER.subject, subject);
  const host = trusted ? callerHost(ctx) : (ctx.authority ?? inbound.host);
  if (inbound.grpcTimeout !== undefined && !inbound.isGrpc) {
    fields.push('grpc-timeout', inbound.grpcTimeout);
  }
  if (ctx.trace.tracestate !== undefined) fields.push('tracestate', ctx.trace.tracestate);
  if (host !== undefined) fields.push('x-forwarded-host', host);
  return fields;
}

/** The caller's `Authorization` if it is for the upstream: the gateway has no use for it, and sends none of its own. */
export function passedAuthorization(
  ctx: RequestContext,
  credential: UsableCredential | undefined,
): string | undefined {
  const { authorization, authorizationIsHopByHop } = ctx.inbound;
  return authorization === undefined ||
    authorizationIsHopByHop ||
    credential?.header === 'authorization' ||
    isOurCredential(ctx, authorization)
    ? undefined
    : authorization;
}

function credentialOf(ctx: RequestContext): UsableCredential | undefined {
  const credential = ctx.version?.service.credential;
  if (credential?.usable === false) throw new Error('the credential of the service cannot be used');
  return credential;
}

/** Drops every field that an upstream could read as this one, in any case, with dashes or underscores. */
function withoutAlias(fields: HeaderFields, folded: string): string[] {
  return filterFields(fields, (name) => foldedName(name) !== folded);
}

/** Otherwise the upstream gets the `Via` of the caller, as without a gateway. */
function sendsVia({ version }: RequestContext): boolean {
  return version?.service.sendVia === true;
}

/** The proxies that the request passed, the gateway last, each with the version that it received. */
export function viaOf(ctx: RequestContext): string {
  const own = ctx.httpVersion === '1.1' ? VIA : `${ctx.httpVersion} ${PSEUDONYM}`;
  return appended(ctx.inbound.via, own);
}

/** The gateways and CDNs that the request passed, this one last. By it a gateway finds that a request is in a loop. */
export function cdnLoopOf({ inbound: { cdnLoop } }: RequestContext): string {
  return appended(cdnLoop, PSEUDONYM);
}

/** The addresses that lead to the caller: those from a trusted proxy are extended, others are replaced. */
export function forwardedFor(ctx: RequestContext): string {
  const before = ctx.fromTrustedProxy ? ctx.inbound.forwardedFor : undefined;
  return appended(before, ctx.peerAddress);
}

/** The list with one element more. An empty field is an empty list, not an empty element (RFC 9110 section 5.6.1.1). */
function appended(list: string | undefined, element: string): string {
  return list === undefined || list === '' ? element : `${list}, ${element}`;
}

/** Includes a JWT that the gateway verified: it was issued for the gateway (docs/adr/0008). */
function isOurCredential(ctx: RequestContext, authorization: string): boolean {
  const type = ctx.route?.auth.type;
  return type === 'token' || type === 'jwt' || credentialHoldsTokenSecret(authorization);
}

function isOurApiKey(ctx: RequestContext, apiKey: string): boolean {
  return ctx.route?.auth.type === 'api_key' || holdsTokenSecret(apiKey);
}

/** What an upstream gets as its request, with these fields and this body. */
export function outboundRequest(
  ctx: RequestContext,
  upstream: CompiledUpstream,
  { fields, passed, upgrade }: Pick<ClientRequest, 'fields' | 'passed' | 'upgrade'>,
  body: TakenBody,
  receiver: ResponseReceiver,
): ClientRequest {
  const { method, target, framing, rewritten, route, inbound } = ctx;
  return {
    method,
    path: upstreamPath(upstream.basePath, rewritten ?? target),
    host: rewritten?.host,
    fields,
    passed,
    // Bytes alone are cheaper to send than a body that has trailers.
    body: body.kind === 'kept' && body.trailers === undefined ? body.bytes : bodyToSend(body),
    contentLength: announcedLength(framing),
    upgrade,
    takesTrailers: inbound.takesTrailers && takesTrailers(ctx),
    // Also those of an attempt that is retried: the final response may differ from any hint.
    hints: route?.settings.early_hints === true ? receiver : undefined,
  };
}
