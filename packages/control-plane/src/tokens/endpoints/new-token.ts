import type { TokenInput } from '../token.ts';
import { requireOutlivedBy, type CallerToken } from '../../access/caller.ts';
import { invalidField } from '../../http/input.ts';

/** The routes that a new token covers: by default all, which its creator must cover. */
export function routesOf(body: TokenInput, maker: CallerToken): string[] {
  if (body.routes !== undefined) return body.routes;
  if (maker.routes.includes('*')) return ['*'];
  throw invalidField(
    'routes',
    'is required, because the token of this call does not cover all routes',
  );
}

/** A token must not outlive the token that creates it, whose expiry is also the default. */
export function expiryOf(body: TokenInput, maker: CallerToken, now: Date): Date | null {
  if (body.expires_at === undefined) return maker.expires_at;
  const expiresAt = body.expires_at === null ? null : new Date(body.expires_at);
  requireExpiry(expiresAt, maker, now);
  return expiresAt;
}

/** @throws GatewayError if the expiry is past or later than that of the caller's token */
export function requireExpiry(expiresAt: Date | null, caller: CallerToken, now: Date): void {
  if (expiresAt !== null && expiresAt <= now) throw invalidField('expires_at', 'is in the past');
  requireOutlivedBy(expiresAt, caller);
}
