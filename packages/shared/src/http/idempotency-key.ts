/** The length of the longest idempotency key, in characters. */
const MAX_KEY_CHARS = 255;

/** Visible ASCII that does not begin with a quotation mark. */
const BARE = /^[!#-~][!-~]*$/;
/** The sf-string of RFC 8941 section 3.3.3, with nothing after it. */
const QUOTED = /^"(?:[ !#-[\]-~]|\\["\\])*"$/;

/** A key, or why the field has none. The reason never contains the key. */
export type KeyField =
  | { readonly key: string; readonly fault?: undefined }
  | { readonly fault: string };

/**
 * Reads an `Idempotency-Key` field: 1 to 255 characters, bare as most clients send it, or quoted as in
 * draft-ietf-httpapi-idempotency-key-header. `"abc"` and `abc` are the same key; so are `"a\"b"` and `a"b`. Only a quoted
 * key may contain spaces.
 */
export function readKeyField(value: string): KeyField {
  const read = value.startsWith('"') ? unquoted(value) : bare(value);
  if (read.fault !== undefined) return read;
  if (read.key === '') return { fault: 'must not be empty' };
  if (read.key.length > MAX_KEY_CHARS) {
    return { fault: `must be at most ${MAX_KEY_CHARS} characters long` };
  }
  return read;
}

function bare(value: string): KeyField {
  if (value === '' || BARE.test(value)) return { key: value };
  return { fault: 'must contain only visible ASCII characters; a key with spaces must be quoted' };
}

function unquoted(value: string): KeyField {
  if (QUOTED.test(value)) return { key: value.slice(1, -1).replace(/\\(["\\])/g, '$1') };
  return { fault: 'must be one quoted ASCII string, because it begins with a quotation mark' };
}
