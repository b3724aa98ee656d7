import { refuseAccess } from '../domain/access.ts';
import type { TokenInput } from '../domain/token.ts';
import type { CallerToken } from '../http/endpoint.ts';
import { invalidField } from '../http/input.ts';

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
  if (outlives(expiresAt, caller)) {
    throw refuseAccess('The other token would outlive the token of this call.');
  }
}

/** Whether an expiry is later than that of the caller's token; null means never. */
export function outlives(expiresAt: Date | null, caller: CallerToken): boolean {
  if (caller.expires_at === null) return false;
  return expiresAt === null || expiresAt > caller.expires_at;
}
