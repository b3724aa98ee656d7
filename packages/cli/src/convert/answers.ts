import type { RouteDraft } from './draft.ts';

/** Statuses that `respond` cannot have: they need another field, or are those of a redirect. nginx ends the connection with 444. */
const REFUSED = new Set([206, 301, 302, 303, 307, 308, 401, 405, 407, 426, 444]);
const BODILESS = new Set([204, 205, 304]);
const MAX_BODY_BYTES = 64 * 1024;
const MEDIA_TYPE = /^(?=.{1,256}$)[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+(?:; ?[\w-]+=[\w-]+)*$/;

/** Makes the route answer by itself. An answer that it cannot give leaves the route out. */
export function respond(
  route: RouteDraft,
  status: number,
  body: string,
  contentType: string | undefined,
): void {
  // It refuses callers, and another route would get them.
  if (route.leftOut !== undefined && status >= 400) route.access = 'guarded';
  const isPossible =
    Number.isInteger(status) &&
    status >= 200 &&
    status <= 599 &&
    !REFUSED.has(status) &&
    Buffer.byteLength(body) <= MAX_BODY_BYTES &&
    body.isWellFormed() &&
    // A reference would be replaced by an apply.
    !body.includes('\0') &&
    !/\$\{\w+\}/.test(body) &&
    (contentType === undefined || MEDIA_TYPE.test(contentType));
  if (!isPossible) {
    route.leftOut ??= `its answer with the status ${status} has no equivalent`;
    // It may be there to refuse callers.
    if (status >= 400) route.access = 'guarded';
    return;
  }
  // The sources redirect before they answer in another way.
  if (route.fields.has('redirect')) return;
  const text = BODILESS.has(status) ? '' : body;
  route.fields.set('respond', {
    status,
    ...(text !== '' && { body: text }),
    ...(text !== '' && contentType !== undefined && { content_type: contentType }),
  });
}

const STATUSES = new Set([301, 302, 303, 307, 308]);
const LOCATION =
  /^(?:https?:\/\/[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d{1,5})?(?=[/?#]|$)|\/(?!\/))(?:[A-Za-z0-9\-._~:/?#@!$&'()*+,;=]|%[0-9A-Fa-f]{2}|\{path\.rest\})*$/;

const PARENT_SEGMENT = /^[^?#]*\/(?:\.|%2e){2}(?:[/?#]|$)/i;

function isLocation(text: string): boolean {
  const [origin] = /^https?:\/\/[^/?#]*/.exec(text) ?? [];
  return (
    text.length <= 2048 &&
    LOCATION.test(text) &&
    !PARENT_SEGMENT.test(text) &&
    (origin === undefined || URL.canParse(origin))
  );
}

/** Makes the route redirect. A location that it cannot have leaves the route out. */
export function redirect(route: RouteDraft, status: number, location: string): void {
  if (STATUSES.has(status) && isLocation(location)) {
    route.fields.delete('respond');
    route.fields.set('redirect', { status, location });
  } else route.leftOut ??= 'its redirect has no equivalent';
}

/** A location to which the query of the request is not added. */
export function withoutQuery(location: string): string {
  return /[?#]/.test(location) ? location : `${location}?`;
}
