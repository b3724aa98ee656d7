import { BASIC_CHALLENGE } from '@gateway/shared/http/headers';
import { fieldValue } from '@gateway/http/fields/header-fields';
import type { RequestContext } from '../request/context.ts';

const BASIC = /^basic(?:[ \t]|$)/i;

/**
 * The `WWW-Authenticate` fields of a 401. Clients such as git and Java send a password only if a `Basic` challenge asks
 * for it, so it stands beside `Bearer` if the caller sent no credential, or one of `Basic`. A browser gets none: it would
 * open a dialog, and then send the password by itself with the requests of other sites.
 *
 * They depend on nothing but what the caller sent, so that they are the same for every route, and for one that does not
 * exist. Each is a field of its own, because some clients read only the first challenge of a field.
 */
export function challengesFor(
  { inbound }: Pick<RequestContext, 'inbound'>,
  bearer: string,
): readonly string[] {
  const { authorization, apiKey, raw } = inbound;
  const mayWantBasic =
    authorization === undefined ? apiKey === undefined : BASIC.test(authorization);
  return mayWantBasic && !isFromBrowser(raw) ? [bearer, BASIC_CHALLENGE] : [bearer];
}

/** Browsers send this field over HTTPS, and to the own machine; no page can set or remove it. */
function isFromBrowser(raw: RequestContext['inbound']['raw']): boolean {
  return fieldValue(raw, 'sec-fetch-mode') !== undefined;
}
