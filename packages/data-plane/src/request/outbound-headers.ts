import { HEADER } from '@gateway/shared/http/headers';
import { credentialHoldsTokenSecret, holdsTokenSecret } from '@gateway/shared/tokens/secret';
import type { UsableCredential } from '../routing-table/compile-credential.ts';
import type { RequestContext } from './context.ts';
import { withoutNamed } from './inbound-headers.ts';

/** How the gateway names itself in `Via` (RFC 9110 section 7.6.3). */
const VIA = '1.1 gateway';

/**
 * The header lines for the upstream: name, value, name, value. The caller's end-to-end fields, and
 * what the gateway says of the caller. `X-Forwarded-*` of the caller counts only where a trusted
 * proxy sent it. A credential of the gateway never goes on; one for the upstream does, unless the service
 * has one of its own under that name.
 *
 * @throws Error where the service has a credential that cannot be used: without it nothing may be sent
 */
export function outboundHeaders(ctx: RequestContext): string[] {
  const { inbound } = ctx;
  const { apiKey } = inbound;
  const credential = credentialOf(ctx);
  let fields =
    apiKey !== undefined && isOurApiKey(ctx, apiKey)
      ? withoutNamed(inbound.endToEnd, 'x-api-key')
      : inbound.endToEnd.slice();
  if (credential !== undefined) {
    fields = withoutAlias(fields, credential.dashedHeader);
    fields.push(credential.header, credential.value);
  }
  if (
    inbound.authorization !== undefined &&
    !inbound.authorizationEndsHere &&
    credential?.header !== 'authorization' &&
    !isOurCredential(ctx, inbound.authorization)
  ) {
    fields.push('authorization', inbound.authorization);
  }
  const subject = ctx.jwt?.subjectField;
  if (subject !== undefined) fields.push(HEADER.subject, subject);
  const trusted = ctx.fromTrustedProxy;
  const host = (trusted ? inbound.forwardedHost : undefined) ?? ctx.authority ?? inbound.host;
  fields.push(
    'x-forwarded-for',
    forwardedFor(ctx),
    'x-forwarded-proto',
    (trusted ? inbound.forwardedProto : undefined) ?? ctx.protocol,
    'via',
    viaOf(ctx),
    'traceparent',
    ctx.trace.traceparent,
    HEADER.requestId,
    ctx.id,
  );
  if (ctx.trace.tracestate !== undefined) fields.push('tracestate', ctx.trace.tracestate);
  if (host !== undefined) fields.push('x-forwarded-host', host);
  return fields;
}

function credentialOf(ctx: RequestContext): UsableCredential | undefined {
  const credential = ctx.version?.service.credential;
  if (credential?.usable === false) throw new Error('the credential of the service cannot be used');
  return credential;
}

/** Drops every field that an upstream could take for this one, in any case, with dashes or underscores. */
function withoutAlias(fields: readonly string[], dashedName: string): string[] {
  const kept: string[] = [];
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? '';
    const dashed = name.toLowerCase().replaceAll('_', '-');
    if (dashed !== dashedName) kept.push(name, fields[index + 1] ?? '');
  }
  return kept;
}

/** The proxies that the request passed, the gateway last, with the version that it got it in. */
export function viaOf(ctx: RequestContext): string {
  const own = ctx.httpVersion === '1.1' ? VIA : `${ctx.httpVersion} gateway`;
  return ctx.inbound.via === undefined ? own : `${ctx.inbound.via}, ${own}`;
}

/** The chain of addresses that leads to the caller: a trusted proxy's is extended, others begin anew. */
export function forwardedFor(ctx: RequestContext): string {
  const before = ctx.fromTrustedProxy ? ctx.inbound.forwardedFor : undefined;
  return before === undefined ? ctx.peerAddress : `${before}, ${ctx.peerAddress}`;
}

/** Also a JWT that the gateway verified: it was made out to the gateway (docs/adr/0008). */
function isOurCredential(ctx: RequestContext, authorization: string): boolean {
  const type = ctx.route?.auth.type;
  return type === 'token' || type === 'jwt' || credentialHoldsTokenSecret(authorization);
}

function isOurApiKey(ctx: RequestContext, apiKey: string): boolean {
  return ctx.route?.auth.type === 'api_key' || holdsTokenSecret(apiKey);
}
