import type { GatewayError } from '@gateway/shared/errors/gateway-error';
import { refuseField } from '../request/check-head.ts';

/** The length of the longest key, in characters. */
export const MAX_KEY_CHARS = 255;

const FIELD = 'idempotency-key';

/** Visible ASCII that does not begin with a quotation mark. */
const BARE = /^[!#-~][!-~]*$/;
/** The sf-string of RFC 8941 section 3.3.3, with nothing after it. */
const QUOTED = /^"(?:[ !#-[\]-~]|\\["\\])*"$/;

/**
 * Parses an `Idempotency-Key` field: 1 to 255 characters, bare as most clients send it, or quoted as in
 * draft-ietf-httpapi-idempotency-key-header. `"abc"` and `abc` are the same key; so are `"a\"b"` and `a"b`. Only a quoted
 * key may contain spaces.
 *
 * @throws GatewayError `invalid_request`, which never contains the key
 */
export function parseIdempotencyKey(value: string): string {
  if (value === '') throw refused('must not be empty');
  const key = value.startsWith('"') ? unquoted(value) : bare(value);
  if (key === '') throw refused('must not be empty');
  if (key.length > MAX_KEY_CHARS) {
    throw refused(`must be at most ${MAX_KEY_CHARS} characters long`);
  }
  return key;
}

function bare(value: string): string {
  if (BARE.test(value)) return value;
  throw refused('must contain only visible ASCII characters; a key with spaces must be quoted');
}

function unquoted(value: string): string {
  if (QUOTED.test(value)) return value.slice(1, -1).replace(/\\(["\\])/g, '$1');
  throw refused('must be one quoted ASCII string, because it begins with a quotation mark');
}

function refused(reason: string): GatewayError {
  return refuseField(FIELD, reason);
}
