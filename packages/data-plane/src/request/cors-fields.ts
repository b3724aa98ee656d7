import { filterFields, type HeaderFields } from '@gateway/http/fields/header-fields';
import { PassedFields } from '@gateway/http/message/message-writer';
import { cacheByFields } from '@gateway/http/message/repeated-fields';
import type { RequestContext } from './context.ts';
import type { CompiledCors } from '../routing-table/compile-cors.ts';

const UPSTREAMS = 'access-control-';
const VARY = 'vary';

/** The fields of an upstream's response without its own fields of CORS, and with `Vary: Origin` unless all origins get the same. */
export function withoutUpstreamCors(
  fields: HeaderFields,
  { isPublic }: Pick<CompiledCors, 'isPublic'>,
): string[] {
  const kept = withoutCors(fields);
  if (!isPublic) addVary(kept);
  return kept;
}

/** The fields without those of CORS. */
export function withoutCors(fields: HeaderFields): string[] {
  return filterFields(fields, (name) => !name.toLowerCase().startsWith(UPSTREAMS));
}

/** Names `Origin` in the last line of `Vary`, unless one has it or `*` (RFC 9110 section 12.5.5). */
function addVary(fields: string[]): void {
  let last: number | undefined;
  for (let index = 0; index < fields.length; index += 2) {
    if (fields[index]?.toLowerCase() !== VARY) continue;
    if (/(?:^|,)[ \t]*(?:origin|\*)[ \t]*(?:,|$)/i.test(fields[index + 1] ?? '')) return;
    last = index + 1;
  }
  const line = last === undefined ? '' : (fields[last]?.trim() ?? '');
  if (last === undefined) fields.push('Vary', 'Origin');
  else fields[last] = line === '' ? 'Origin' : `${line}, Origin`;
}

const forEachOrigin = replacer({ isPublic: false });
const forEveryOrigin = replacer({ isPublic: true });

function replacer(cors: Pick<CompiledCors, 'isPublic'>) {
  return cacheByFields(
    (_raw, { fields }: PassedFields) => new PassedFields(withoutUpstreamCors(fields, cors)),
  );
}

/**
 * As `withoutUpstreamCors`, for fields that are sent on.
 *
 * @param raw the fields from which `passed` was made
 */
export function replacedCors(
  raw: HeaderFields,
  passed: PassedFields,
  { isPublic }: CompiledCors,
): PassedFields {
  return isPublic ? forEveryOrigin(raw, passed) : forEachOrigin(raw, passed);
}

/**
 * Adds the fields by which a page may read a response of the route, if its origin is allowed. What is the same for all
 * origins is also sent to requests without one, because a cache may give their responses to pages.
 */
export function addCors(ctx: RequestContext, cors: CompiledCors, fields: string[]): void {
  const { origin } = ctx.inbound;
  if (origin !== undefined) ctx.applied('cors');
  if (cors.isPublic) fields.push('Access-Control-Allow-Origin', '*', ...cors.fields);
  else if (isAllowed(ctx, cors)) {
    fields.push('Access-Control-Allow-Origin', origin ?? '', ...cors.fields);
  }
}

function isAllowed({ inbound: { origin } }: RequestContext, cors: CompiledCors): boolean {
  return origin !== undefined && cors.match(origin) !== undefined;
}

/**
 * As `addCors`, for a refusal of the gateway. Whoever is not authenticated, or asks too often, gets the fields only with an
 * origin that is allowed: with them it could find out that the route exists. No cache stores these refusals.
 *
 * @returns whether the refusal varies by `Origin`
 */
export function addCorsToRefusal(
  ctx: RequestContext,
  cors: CompiledCors,
  status: number,
  fields: string[],
): boolean {
  if ((status === 401 || status === 429) && !isAllowed(ctx, cors)) return false;
  addCors(ctx, cors, fields);
  return !cors.isPublic;
}
