/**
 * The schemes of HTTP authentication that authenticate a connection: once a connection carries such a credential, the
 * server takes every later request on it for one of the same user (RFC 4559 section 6). Registered are only some of them;
 * the others are schemes of Windows: Kerberos and CredSSP of WS-Management, Nego2 and PKU2U of IIS, and an older name of
 * Negotiate.
 */
const SCHEMES = [
  'Negotiate',
  'GSS-Negotiate',
  'NTLM',
  'Kerberos',
  'Nego2',
  'CredSSP',
  'PKU2U',
] as const;
export type ConnectionAuthScheme = (typeof SCHEMES)[number];

/** A scheme, not as the start of a longer token (RFC 9110 section 11.1). */
const SCHEME = `(${SCHEMES.join('|')})(?![!#$%&'*+\\-.^_\`|~0-9A-Za-z])`;
/** Lenient at the start, because a server may be: many trim more than RFC 9110 allows. */
const CREDENTIALS = new RegExp(`^[^0-9A-Za-z]*${SCHEME}`, 'i');
/** Lenient between challenges too: a connection that is not used again costs little. */
const CHALLENGES = new RegExp(`(?:^|[,;\\s\\x85])${SCHEME}`, 'i');

/** The scheme of a credential if it authenticates the connection that carries it. */
export function connectionAuthScheme(credentials: string): ConnectionAuthScheme | undefined {
  const found = CREDENTIALS.exec(credentials)?.[1]?.toLowerCase();
  return found === undefined ? undefined : SCHEMES.find((one) => one.toLowerCase() === found);
}

/**
 * Whether a request authenticates its connection.
 *
 * @param fields names and values in turn
 */
export function authenticatesConnection(fields: readonly string[]): boolean {
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at] ?? '';
    // The length is compared first, because it costs least, and few fields have these lengths.
    if (name.length !== 13 && name.length !== 19) continue;
    if (isNamed(name, 'authorization') || isNamed(name, 'proxy-authorization')) {
      if (CREDENTIALS.test(fields[at + 1] ?? '')) return true;
    }
  }
  return false;
}

/**
 * Whether a response belongs to the authentication of its connection: it asks for it, is a step of it, or says that the
 * connection is authenticated. A mutual authentication has a challenge in a successful response too (RFC 4559 section 5).
 *
 * @param fields names and values in turn
 */
export function answersConnectionAuth(fields: readonly string[]): boolean {
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at] ?? '';
    const { length } = name;
    if (length !== 15 && length !== 16 && length !== 18) continue;
    if (isNamed(name, 'persistent-auth')) return true;
    if (isNamed(name, 'www-authenticate') || isNamed(name, 'proxy-authenticate')) {
      if (CHALLENGES.test(fields[at + 1] ?? '')) return true;
    }
  }
  return false;
}

/** Whether a field has this name, which is in lower case. Most names differ in length or in their first letter. */
function isNamed(name: string, lower: string): boolean {
  if (name.length !== lower.length) return false;
  return (name.charCodeAt(0) | 0x20) === lower.charCodeAt(0) && name.toLowerCase() === lower;
}
