import { filterFields, type HeaderFields } from '@gateway/http/fields/header-fields';
import { foldedName, HTTP_TOKEN } from '@gateway/shared/http/headers';
import type { CompiledRoute, CompiledService } from '../routing-table/routing-table.ts';
import { withoutNamed, type InboundHeaders } from './inbound-headers.ts';
import type { RequestAffinity } from './request-affinity.ts';
import { trailerName } from './trailer-names.ts';

/** What decides which trailers of a request, and of its response, pass. */
export interface TrailerContext {
  readonly inbound: InboundHeaders;
  readonly route: CompiledRoute | undefined;
  readonly version: { readonly service: CompiledService } | undefined;
  readonly affinity: RequestAffinity | undefined;
}

/** Whether the caller takes trailers of the response: it says so (RFC 9110 section 10.1.4), and HTTP/1.0 has none. */
export function takesTrailers({
  inbound,
  httpVersion,
}: Pick<TrailerContext, 'inbound'> & { readonly httpVersion: string }): boolean {
  return inbound.takesTrailers && httpVersion !== '1.0';
}

/** Those trailers of a request that its upstream gets; undefined: none. */
export function requestTrailers(
  ctx: TrailerContext,
  trailers: HeaderFields,
): HeaderFields | undefined {
  const passed = filterFields(trailers, (name) => passesInRequest(ctx, name));
  return orNone(withoutNamed(passed, ctx.inbound.connection));
}

/** Those names in the `Trailer` of a request that may pass, as the value of that field; undefined: none. */
export function announcedRequestTrailers(ctx: TrailerContext): string | undefined {
  const { trailer, connection } = ctx.inbound;
  if (trailer === undefined) return undefined;
  return announced(trailer, connection, (name) => passesInRequest(ctx, name));
}

/**
 * Those trailers of a response that its caller may get, before the route removes any; undefined: none.
 *
 * @param connection of the head of the response
 */
export function endToEndTrailers(
  ctx: TrailerContext,
  trailers: HeaderFields,
  connection: string,
): HeaderFields | undefined {
  const passed = filterFields(trailers, (name) => passesBothWays(ctx, name));
  return orNone(withoutNamed(passed, connection));
}

/** Those that the route does not remove, or set itself in the head; undefined: none. */
export function withoutRemoved(
  { route }: Pick<TrailerContext, 'route'>,
  trailers: HeaderFields | undefined,
): HeaderFields | undefined {
  const rules = route?.rewrite?.responseFields;
  if (rules === undefined || trailers === undefined) return trailers;
  return orNone(filterFields(trailers, (name) => !rules.dropped.has(trailerName(name).folded)));
}

/** Those names in the `Trailer` of a response that may pass, as the value of that field; undefined: none. */
export function announcedTrailers(
  ctx: TrailerContext,
  trailer: string,
  connection: string,
): string | undefined {
  const rules = ctx.route?.rewrite?.responseFields;
  return announced(trailer, connection, (name) => {
    return passesBothWays(ctx, name) && rules?.dropped.has(trailerName(name).folded) !== true;
  });
}

function passesInRequest(ctx: TrailerContext, name: string): boolean {
  const { folded } = trailerName(name);
  const credential = ctx.version?.service.credential;
  const isCredential = credential?.usable === true && credential.foldedHeader === folded;
  const rules = ctx.route?.rewrite?.requestFields;
  return passesBothWays(ctx, name) && !isCredential && rules?.dropped.has(folded) !== true;
}

/** The name of a session has the suffix of the gateway only in a head. */
function passesBothWays({ affinity }: TrailerContext, name: string): boolean {
  const { folded, passes } = trailerName(name);
  return passes && (affinity === undefined || foldedName(affinity.policy.name) !== folded);
}

function announced(
  trailer: string,
  connection: string,
  passes: (name: string) => boolean,
): string | undefined {
  const names = trailer.split(',').map((name) => name.trim());
  const fields = names.flatMap((name) => (HTTP_TOKEN.test(name) && passes(name) ? [name, ''] : []));
  const kept = withoutNamed(fields, connection).filter((_text, index) => index % 2 === 0);
  return kept.length > 0 ? kept.join(', ') : undefined;
}

function orNone(fields: HeaderFields): HeaderFields | undefined {
  return fields.length > 0 ? fields : undefined;
}
