import type { GatewayError } from '@gateway/shared/errors/gateway-error';
import { refuseField } from '../request/check-head.ts';

/** Longest key, in characters. */
export const MAX_KEY_CHARS = 255;

const FIELD = 'idempotency-key';

/** Visible ASCII that does not begin with a quotation mark. */
const BARE = /^[!#-~][!-~]*$/;
/** The sf-string of RFC 8941 section 3.3.3, with nothing after it. */
const QUOTED = /^"(?:[ !#-[\]-~]|\\["\\])*"$/;

/**
 * The key that an `Idempotency-Key` field names: 1 to 255 characters, bare as most clients send it or
 * quoted as draft-ietf-httpapi-idempotency-key-header has it. `"abc"` and `abc` are the same key; so
 * are `"a\"b"` and `a"b`. Only a quoted key may hold spaces.
 *
 * @throws GatewayError `invalid_request`, which never repeats the key
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
  throw refused('must be of visible ASCII characters; a key with spaces must stand in quotes');
}

function unquoted(value: string): string {
  if (QUOTED.test(value)) return value.slice(1, -1).replace(/\\(["\\])/g, '$1');
  throw refused('begins with a quotation mark, so it must be a quoted string of ASCII and no more');
}

function refused(reason: string): GatewayError {
  return refuseField(FIELD, reason);
}
