import type { Clock } from '@gateway/shared/clock';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { FixedWindowCounters, type FixedWindow } from '@gateway/shared/fixed-window';
import { bearerCredential } from '@gateway/shared/http/headers';
import { addressGroup } from '@gateway/shared/net/client-address';
import { hashTokenSecretBytes, isTokenSecret } from '@gateway/shared/tokens/secret';
import { refuseAccess } from '../domain/access.ts';
import type { TokenUses } from '../ingest/token-uses.ts';
import { findTokenBySession, renewSession } from '../store/console/sessions.ts';
import type { Database } from '../store/database.ts';
import { findTokenBySecret, type OpenedToken } from '../store/tokens/find-tokens.ts';
import { hashSessionId } from './console/session-cookie.ts';
import { SESSION_RENEWAL_MS, sessionBounds } from '../domain/session-life.ts';
import type { CallerToken } from './endpoint.ts';
import type { Exchange } from './reply.ts';
import { TokenLookup } from './token-lookup.ts';

const WINDOW_MS = 60_000;
/** The maximum number of addresses, and of tokens, that are counted at the same time. */
const MAX_KEYS = 100_000;

export interface AuthenticatorOptions {
  readonly db: Database;
  readonly clock: Clock;
  /** Failed authentications that are allowed for an address in a minute. */
  readonly authFailureLimit: number;
  /** Management calls that are allowed for a token in a minute. */
  readonly managementRateLimit: number;
  /** Records when each token was last used. */
  readonly tokenUses: Pick<TokenUses, 'note'>;
}

export interface Authenticator {
  /** The failed authentications that an address has left in this window. For IPv6, per /64 network. */
  allowance(address: string): FixedWindow;
  /**
   * Authenticates a call and counts it against the management quota of its token.
   *
   * A failure counts against the address. Above the limit, failures are answered 429, which slows guessing
   * down. A valid token is accepted in any case, so nobody can lock out others at the same address.
   *
   * @throws GatewayError authentication_failed, rate_limit_exceeded
   */
  authenticate(authorization: string | undefined, exchange: Exchange): Promise<CallerToken>;
  /** The same for the secret of a token. */
  authenticateSecret(secret: string, exchange: Exchange): Promise<CallerToken>;
  /** The same for a session of the console; undefined: the call has none. */
  authenticateSession(id: string | undefined, exchange: Exchange): Promise<CallerToken>;
  /** How many counters were dropped to make room for others. */
  droppedCounters(): number;
}

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { db, clock, authFailureLimit, managementRateLimit } = options;
  const failures = new FixedWindowCounters(MAX_KEYS);
  const calls = new FixedWindowCounters(MAX_KEYS);
  const secrets = new TokenLookup((sha256) => findTokenBySecret(db, sha256), clock);
  const sessions = new TokenLookup(
    (sha256) => findTokenBySession(db, sha256, sessionBounds(clock.nowMs())),
    clock,
  );

  /** The token that a call may use, or why there is none. */
  function usable(token: OpenedToken): CallerToken | string {
    const { id, environments, routes, scopes, secretExpiresAt } = token;
    // A call with a rotated secret must not create tokens that outlive that secret, nor get a newer secret.
    const ends = [token.expires_at, secretExpiresAt].filter((end) => end !== null);
    const expires_at = ends.toSorted((a, b) => +a - +b)[0] ?? null;
    if (expires_at !== null && +expires_at <= clock.nowMs()) return 'The token has expired.';
    return { id, environments, routes, scopes, expires_at };
  }

  async function tokenOfSecret(secret: string): Promise<CallerToken | string> {
    if (!isTokenSecret(secret)) return 'The token is malformed.';
    const token = await secrets.find(hashTokenSecretBytes(secret));
    return token === undefined ? 'The token is unknown or revoked.' : usable(token);
  }

  async function tokenOfHeader(authorization: string | undefined): Promise<CallerToken | string> {
    if (authorization === undefined) return 'The Authorization header is missing.';
    const secret = bearerCredential(authorization);
    if (secret === undefined) return 'The Authorization header must be `Bearer <token>`.';
    return tokenOfSecret(secret);
  }

  async function tokenOfSession(id: string | undefined): Promise<CallerToken | string> {
    if (id === undefined) return 'There is no session; sign in first.';
    const sha256 = hashSessionId(id);
    const token = await sessions.find(sha256);
    if (token === undefined) return 'The session has ended; sign in again.';
    const now = new Date(clock.nowMs());
    if (+now - +token.lastUsedAt >= SESSION_RENEWAL_MS) await renewSession(db, sha256, now);
    return usable(token);
  }

  /** Counts a call: against its token, or against its address if it has none. */
  function count(token: CallerToken | string, exchange: Exchange): CallerToken {
    const nowMs = clock.nowMs();
    if (typeof token === 'string') {
      const address = addressGroup(exchange.clientAddress);
      exchange.window = failures.take(address, authFailureLimit, WINDOW_MS, nowMs);
      if (exchange.window.granted) throw refuseAccess(token);
      throw rateLimited('Too many failed authentications from this address', exchange.window);
    }
    exchange.tokenId = token.id;
    options.tokenUses.note(token.id, nowMs);
    exchange.window = calls.take(token.id, managementRateLimit, WINDOW_MS, nowMs);
    if (!exchange.window.granted) {
      throw rateLimited('The management quota of this token is used up', exchange.window);
    }
    return token;
  }

  return {
    allowance(address) {
      return failures.peek(addressGroup(address), authFailureLimit, WINDOW_MS, clock.nowMs());
    },
    droppedCounters: () => failures.dropped + calls.dropped,
    authenticate: async (authorization, exchange) =>
      count(await tokenOfHeader(authorization), exchange),
    authenticateSecret: async (secret, exchange) => count(await tokenOfSecret(secret), exchange),
    authenticateSession: async (id, exchange) => count(await tokenOfSession(id), exchange),
  };
}

function rateLimited(reason: string, window: FixedWindow): GatewayError {
  const seconds = window.resetSeconds;
  return new GatewayError('rate_limit_exceeded', `${reason}; retry after ${seconds} s.`, {
    headers: { 'retry-after': String(seconds) },
  });
}
