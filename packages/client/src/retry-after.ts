/**
 * How long a response asks its caller to wait: `Retry-After` in seconds (RFC 9110 section 10.2.3), else
 * `X-RateLimit-Reset`, which is in seconds too. undefined: it does not say.
 */
export function retryAfterMs(headers: Headers): number | undefined {
  const seconds = headers.get('retry-after') ?? headers.get('x-ratelimit-reset') ?? '';
  // A time since 1970, as others send it, has more digits.
  return /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1000 : undefined;
}
