import { createHash } from 'node:crypto';
import { systemRandom, type RandomSource } from '@gateway/shared/ids';

/** Only paths of the console get the cookie, so it is never sent to an upstream through `/v1/proxy`. */
const COOKIE_PATH = '/console';
const NAME = 'gateway_console';
/** A browser lets a page without TLS neither set nor replace a cookie of this name. */
const SECURE_NAME = `__Secure-${NAME}`;
const SESSION_ID = /^gws_[A-Za-z0-9_-]{43}$/;

/** A new session id: `gws_` and 256 random bits in base64url. */
export function createSessionId(random: RandomSource = systemRandom): string {
  const bytes = new Uint8Array(32);
  random(bytes);
  return `gws_${Buffer.from(bytes).toString('base64url')}`;
}

/** The only form in which a session id is stored. A plain hash is enough, because the id has 256 random bits. */
export function hashSessionId(id: string): Buffer {
  return createHash('sha256').update(id).digest();
}

/** The session ids of a `Cookie` field. A browser has one, unless another site has set one too (RFC 6265 section 8.6). */
export function sessionIdsOf(cookie: string | undefined, isSecure: boolean): readonly string[] {
  const prefix = `${isSecure ? SECURE_NAME : NAME}=`;
  const pairs = cookie?.split(/; */).filter((one) => one.startsWith(prefix)) ?? [];
  const values = pairs.map((pair) => pair.slice(prefix.length).trim());
  return [...new Set(values.filter((value) => SESSION_ID.test(value)))];
}

/** The `Set-Cookie` field that gives a browser its session, or takes it. The cookie ends with the browser at the latest. */
export function sessionCookie(id: string | undefined, isSecure: boolean): string {
  const pair = `${isSecure ? SECURE_NAME : NAME}=${id ?? ''}`;
  const attributes = [`Path=${COOKIE_PATH}`, 'HttpOnly', 'SameSite=Strict'];
  if (isSecure) attributes.push('Secure');
  if (id === undefined) attributes.push('Max-Age=0');
  return [pair, ...attributes].join('; ');
}
