import { GatewayError } from '@gateway/shared/errors/gateway-error';

/**
 * The strong entity tag of a representation: `"3"`, or `"3-healthy"` if it also shows a state that
 * changes without a new revision.
 */
export function etagOf(revision: number, state?: string): string {
  return state === undefined ? `"${revision}"` : `"${revision}-${state}"`;
}

const TAG = /^"(\d+)(?:-[a-z]+)?"$/;

function tags(field: string): readonly string[] {
  return field.split(',').map((tag) => tag.trim());
}

function namesRevision(tag: string, revision: number): boolean {
  return tag === '*' || TAG.exec(tag)?.[1] === String(revision);
}

/**
 * Enforces `If-Match` on a change (RFC 9110 section 13.1.1): weak tags never match, `*` always does.
 * Only the revision of a tag counts, because a change of state loses no other writer's change. Without
 * the field the last write wins.
 *
 * @param etag the newest tag, for the response
 * @throws GatewayError precondition_failed
 */
export function requireMatch(ifMatch: string | undefined, revision: number, etag: string): void {
  if (ifMatch === undefined) return;
  if (tags(ifMatch).some((tag) => namesRevision(tag, revision))) return;
  throw new GatewayError(
    'precondition_failed',
    ifMatch.includes('"')
      ? `If-Match does not match the newest revision, ${revision}.`
      : 'If-Match must be an ETag with its quotes, such as "3".',
    { headers: { etag } },
  );
}

/**
 * Enforces `If-Match` and `If-None-Match` on a PUT, which creates a resource if there is none: `If-None-Match: *` only
 * creates, `If-Match` only replaces (RFC 9110 sections 13.1.1 and 13.1.2).
 *
 * @param current the revision and the tag of the resource; undefined: there is none
 * @throws GatewayError precondition_failed
 */
export function requirePutMatch(
  { ifMatch, ifNoneMatch }: { ifMatch: string | undefined; ifNoneMatch: string | undefined },
  current: { readonly revision: number; readonly etag: string } | undefined,
): void {
  if (current === undefined) {
    if (ifMatch === undefined) return;
    throw new GatewayError('precondition_failed', 'If-Match does not match: there is no resource.');
  }
  requireMatch(ifMatch, current.revision, current.etag);
  const excludes = (tag: string) => namesRevision(tag.replace(/^W\//, ''), current.revision);
  if (ifNoneMatch === undefined || !tags(ifNoneMatch).some(excludes)) return;
  throw new GatewayError(
    'precondition_failed',
    `If-None-Match does not allow the change: the resource exists with revision ${current.revision}.`,
    { headers: { etag: current.etag } },
  );
}

/**
 * Enforces `If-Match` on a change of a whole configuration, whose tag is the number of its version. Changes that no version
 * has yet do not match either, because the caller cannot have seen them in a version.
 *
 * @throws GatewayError precondition_failed
 */
export function requireVersionMatch(
  ifMatch: string | undefined,
  { version, pending }: { readonly version: number; readonly pending: boolean },
): void {
  if (ifMatch === undefined) return;
  const etag = etagOf(version);
  requireMatch(ifMatch, version, etag);
  if (!pending || tags(ifMatch).includes('*')) return;
  throw new GatewayError(
    'precondition_failed',
    `If-Match names the newest version, ${version}, but newer changes wait to be published.`,
    { headers: { etag } },
  );
}

/** Whether `If-None-Match` names this tag (RFC 9110 section 13.1.2): weak comparison. */
export function noneMatches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return tags(ifNoneMatch).some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag);
}
