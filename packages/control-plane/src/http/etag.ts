import { GatewayError } from '@gateway/shared/errors/gateway-error';

/** A resource as its entity tag names it. */
export interface Tagged {
  /** Undefined: the revision tells it from every other resource that had or will have its name. */
  readonly id?: string | undefined;
  readonly revision: number;
}

/** The end of an id is random. So many characters of it tell the resources of a name apart. */
const ID_CHARS = 8;
const STATE = /^("\d+-[0-9a-z]{8})-[a-z]+"$/;

/**
 * The strong entity tag of a representation: `"3-3p6t8w0x"`, or `"3-3p6t8w0x-healthy"` if it also shows a state that
 * changes without a new revision.
 */
export function etagOf({ id, revision }: Tagged, state?: string): string {
  const parts = [revision, id?.slice(-ID_CHARS), state];
  return `"${parts.filter((part) => part !== undefined).join('-')}"`;
}

/** The tag as `If-Match` compares it, for a caller that may not see the state. */
export function withoutState(etag: string): string {
  return etag.replace(STATE, '$1"');
}

function tags(field: string): readonly string[] {
  return field.split(',').map((tag) => tag.trim());
}

function names(tag: string, resource: Tagged): boolean {
  return tag === '*' || withoutState(tag) === etagOf(resource);
}

/**
 * Enforces `If-Match` on a change (RFC 9110 section 13.1.1): weak tags never match, `*` always does. The state in a tag
 * does not count, because a change of state loses no other writer's change. Without the field the last write wins.
 *
 * @throws GatewayError precondition_failed
 */
export function requireMatch(ifMatch: string | undefined, current: Tagged): void {
  if (ifMatch === undefined) return;
  if (tags(ifMatch).some((tag) => names(tag, current))) return;
  const etag = etagOf(current);
  throw new GatewayError(
    'precondition_failed',
    ifMatch.includes('"')
      ? `If-Match does not match the newest revision, whose ETag is ${etag}.`
      : `If-Match must be an ETag with its quotes, such as ${etag}.`,
    { headers: { etag } },
  );
}

/**
 * Enforces `If-Match` and `If-None-Match` on a PUT, which creates a resource if there is none: `If-None-Match: *` only
 * creates, `If-Match` only replaces (RFC 9110 sections 13.1.1 and 13.1.2).
 *
 * @param current undefined: there is no resource
 * @throws GatewayError precondition_failed
 */
export function requirePutMatch(
  { ifMatch, ifNoneMatch }: { ifMatch: string | undefined; ifNoneMatch: string | undefined },
  current: Tagged | undefined,
): void {
  if (current === undefined) {
    if (ifMatch === undefined) return;
    throw new GatewayError('precondition_failed', 'If-Match does not match: there is no resource.');
  }
  requireMatch(ifMatch, current);
  const excludes = (tag: string) => names(tag.replace(/^W\//, ''), current);
  if (ifNoneMatch === undefined || !tags(ifNoneMatch).some(excludes)) return;
  throw new GatewayError(
    'precondition_failed',
    `If-None-Match does not allow the change: the resource exists with revision ${current.revision}.`,
    { headers: { etag: etagOf(current) } },
  );
}

/**
 * Enforces `If-Match` on a change of a whole configuration. Changes that no version has yet do not match either, because
 * the caller cannot have seen them in a version.
 *
 * @param current the revision is the newest version
 * @throws GatewayError precondition_failed
 */
export function requireVersionMatch(
  ifMatch: string | undefined,
  current: Tagged,
  pending: boolean,
): void {
  if (ifMatch === undefined) return;
  requireMatch(ifMatch, current);
  if (!pending || tags(ifMatch).includes('*')) return;
  throw new GatewayError(
    'precondition_failed',
    `If-Match names the newest version, ${current.revision}, but newer changes wait to be published.`,
    { headers: { etag: etagOf(current) } },
  );
}

/** Whether `If-None-Match` names this tag (RFC 9110 section 13.1.2): weak comparison. */
export function noneMatches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return tags(ifNoneMatch).some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag);
}
