import { GatewayError } from '@gateway/shared/errors/gateway-error';

/** The entity tag of a revision. It is strong: a revision has one representation. */
export function etagOf(revision: number): string {
  return `"${revision}"`;
}

function tags(field: string): readonly string[] {
  return field.split(',').map((tag) => tag.trim());
}

/**
 * Holds a change to what `If-Match` asks for (RFC 9110 section 13.1.1): strong comparison, `*` is
 * any. Without the field the last write wins.
 *
 * @throws GatewayError precondition_failed
 */
export function requireMatch(ifMatch: string | undefined, revision: number): void {
  if (ifMatch === undefined) return;
  const wanted = tags(ifMatch);
  if (wanted.includes('*') || wanted.includes(etagOf(revision))) return;
  throw new GatewayError(
    'precondition_failed',
    `If-Match does not name revision ${revision}, which is the newest.`,
    { headers: { etag: etagOf(revision) } },
  );
}

/** Whether `If-None-Match` names this tag (RFC 9110 section 13.1.2): weak comparison. */
export function noneMatches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return tags(ifNoneMatch).some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag);
}
