import { cacheByName } from '../../fields/name-cache.ts';

/**
 * What a field is to the reader of a head. It is found once, when the field is decoded from a literal, and stays with the
 * entry of the table: a field from the table costs no check.
 */
export const KIND = {
  /** Passed on as it is. */
  regular: 0,
  method: 1,
  scheme: 2,
  authority: 3,
  path: 4,
  status: 5,
  protocol: 6,
  contentLength: 7,
  cookie: 8,
  host: 9,
  /** Valid, but of the connection (RFC 9113 section 8.2.2); dropped. */
  dropped: 10,
  /** The message is malformed (RFC 9113 sections 8.2.1, 8.2.2 and 8.3). */
  invalid: 11,
} as const;
export type FieldKind = (typeof KIND)[keyof typeof KIND];

/** Kinds of names that are not regular. `te` is decided by its value. */
const KINDS = new Map<string, FieldKind>([
  [':method', KIND.method],
  [':scheme', KIND.scheme],
  [':authority', KIND.authority],
  [':path', KIND.path],
  [':status', KIND.status],
  [':protocol', KIND.protocol],
  ['content-length', KIND.contentLength],
  ['cookie', KIND.cookie],
  ['host', KIND.host],
  ['http2-settings', KIND.dropped],
  ['connection', KIND.invalid],
  ['keep-alive', KIND.invalid],
  ['proxy-connection', KIND.invalid],
  ['transfer-encoding', KIND.invalid],
  ['upgrade', KIND.invalid],
]);

/** A name in the form that all messages share. */
export interface FieldName {
  readonly name: string;
  readonly kind: FieldKind;
  readonly isTe: boolean;
}

/** A token in lower case (RFC 9113 section 8.2.1, RFC 9110 section 5.6.2). */
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;

/** The name, and what fields of this name are. Each character of the text is one byte. */
export const fieldName: (text: string) => FieldName = cacheByName((name) => {
  const kind = KINDS.get(name) ?? (NAME.test(name) ? KIND.regular : KIND.invalid);
  return { name, kind, isTe: name === 'te' };
});

/** Bits of a byte: it must not occur in a value, or in an authority (RFC 9113 section 8.3.1: no user info). */
const NOT_IN_VALUE = 1;
const NOT_IN_AUTHORITY = 2;
const SPACE = 0x20;
const TAB = 0x09;
const CHARACTERS = Uint8Array.from({ length: 256 }, (_none, code) => {
  const text = String.fromCharCode(code);
  const inValue = code === TAB || (code >= SPACE && code !== 0x7f);
  const inAuthority = /^[A-Za-z0-9\-._~%!$&'()*+,;=:[\]]$/.test(text);
  return (inValue ? 0 : NOT_IN_VALUE) | (inAuthority ? 0 : NOT_IN_AUTHORITY);
});

/** What the bytes of a value make of a field of this name (RFC 9113 section 8.2.1). */
export function kindOfValue(name: FieldName, bytes: Buffer, start: number, end: number): FieldKind {
  if (start === end) return name.isTe ? KIND.invalid : name.kind;
  let found = 0;
  for (let at = start; at < end; at += 1) found |= CHARACTERS[bytes[at] ?? 0] ?? 0;
  if ((found & NOT_IN_VALUE) !== 0) return KIND.invalid;
  if (isSpace(bytes[start]) || isSpace(bytes[end - 1])) return KIND.invalid;
  const { kind } = name;
  const isAuthority = kind === KIND.host || kind === KIND.authority;
  if (isAuthority && (found & NOT_IN_AUTHORITY) !== 0) return KIND.invalid;
  // RFC 9113 section 8.2.2: no other value may be sent.
  if (name.isTe && bytes.toString('latin1', start, end) !== 'trailers') return KIND.invalid;
  return kind;
}

function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}
