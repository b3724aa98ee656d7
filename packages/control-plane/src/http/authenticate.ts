import type { Clock } from '@gateway/shared/clock';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { FixedWindowCounters, type FixedWindow } from '@gateway/shared/fixed-window';
import { bearerCredential } from '@gateway/shared/http/headers';
import { addressGroup } from '@gateway/shared/net/client-address';
import { hashTokenSecretBytes, isTokenSecret } from '@gateway/shared/tokens/secret';
import { refuseAccess } from '../access/access.ts';
import type { TokenUses } from '../access/token-uses.ts';
import { findTokenBySession, renewSession } from '../access/store/sessions.ts';
import type { Database } from '../store/database.ts';
import { findTokenBySecret, type OpenedToken } from '../access/store/find-tokens.ts';
import { hashSessionId } from '../access/session-cookie.ts';
import { SESSION_RENEWAL_MS, sessionBounds } from '../access/session-life.ts';
import type { CallerToken, ConfirmToken } from '../access/caller.ts';
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

/** An authenticated caller. */
export interface Caller {
  readonly token: CallerToken;
  /** It counts no further call. */
  readonly confirmToken: ConfirmToken;
}

/** A caller with a session of the console. */
export interface SessionCaller extends Caller {
  /** Distinguishes sessions. It is not a secret. */
  readonly session: string;
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
  authenticate(authorization: string | undefined, exchange: Exchange): Promise<Caller>;
  /** The same for the secret of a token. */
  authenticateSecret(secret: string, exchange: Exchange): Promise<CallerToken>;
  /**
   * The same for the sessions of the console that a call has. Of several that live, another site may have set all but one,
   * and nothing says which; then none counts.
   */
  authenticateSession(ids: readonly string[], exchange: Exchange): Promise<SessionCaller>;
  /** How many counters were dropped to make room for others. */
  droppedCounters(): number;
}

const UNKNOWN_TOKEN = 'The token is unknown or revoked.';
const SESSION_ENDED = 'The session has ended; sign in again.';
const SEVERAL_SESSIONS =
  'The call has cookies of several sessions; sign in again, or delete the cookies of this site.';
/** A browser has one. Each costs a query. */
const MAX_SESSIONS_OF_CALL = 5;

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
  function usable(token: OpenedToken | undefined, absent: string): CallerToken | string {
    if (token === undefined) return absent;
    const { id, environments, routes, scopes, secretExpiresAt } = token;
    // A call with a rotated secret must not create tokens that outlive that secret, nor get a newer secret.
    const ends = [token.expires_at, secretExpiresAt].filter((end) => end !== null);
    const expires_at = ends.toSorted((a, b) => +a - +b)[0] ?? null;
    if (expires_at !== null && +expires_at <= clock.nowMs()) {
      return expires_at === secretExpiresAt
        ? 'The secret was rotated away; use the new one.'
        : 'The token has expired.';
    }
    const isSecretReplaced = secretExpiresAt !== null;
    return { id, environments, routes, scopes, expires_at, isSecretReplaced };
  }

  async function tokenOfSecret(secret: string): Promise<CallerToken | string> {
    if (!isTokenSecret(secret)) return 'The token is malformed.';
    return usable(await secrets.find(hashTokenSecretBytes(secret)), UNKNOWN_TOKEN);
  }

  async function sessionOf(sha256: Buffer) {
    const token = await sessions.find(sha256);
    const now = new Date(clock.nowMs());
    if (token !== undefined && +now - +token.lastUsedAt >= SESSION_RENEWAL_MS) {
      await renewSession(db, sha256, now);
    }
    return { sha256, token: usable(token, SESSION_ENDED) };
  }

  /** Counts a failed authentication against the address of the caller. */
  function refuse(reason: string, exchange: Exchange): never {
    const address = addressGroup(exchange.clientAddress);
    exchange.window = failures.take(address, authFailureLimit, WINDOW_MS, clock.nowMs());
    if (exchange.window.granted) throw refuseAccess(reason);
    throw rateLimited('Too many failed authentications from this address', exchange.window);
  }

  /** Counts a call against its token, or against its address if it has none. */
  function count(token: CallerToken | string, exchange: Exchange): CallerToken {
    if (typeof token === 'string') return refuse(token, exchange);
    const nowMs = clock.nowMs();
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
    async authenticate(authorization, exchange) {
      if (authorization === undefined)
        return refuse('The Authorization header is missing.', exchange);
      const secret = bearerCredential(authorization);
      if (secret === undefined) {
        return refuse('The Authorization header must be `Bearer <token>`.', exchange);
      }
      return {
        token: count(await tokenOfSecret(secret), exchange),
        confirmToken: async (transaction = db) => {
          const token = await findTokenBySecret(
            transaction as Database,
            hashTokenSecretBytes(secret),
          );
          return orRefused(usable(token, UNKNOWN_TOKEN));
        },
      };
    },
    authenticateSecret: async (secret, exchange) => count(await tokenOfSecret(secret), exchange),
    async authenticateSession(ids, exchange) {
      if (ids.length === 0) return refuse('There is no session; sign in first.', exchange);
      if (ids.length > MAX_SESSIONS_OF_CALL) return refuse(SEVERAL_SESSIONS, exchange);
      const found = await Promise.all(ids.map(hashSessionId).map(sessionOf));
      const live = found.filter(({ token }) => typeof token !== 'string');
      if (live.length > 1) return refuse(SEVERAL_SESSIONS, exchange);
      const [session] = live;
      if (session === undefined) return refuse(SESSION_ENDED, exchange);
      const { sha256 } = session;
      return {
        session: sha256.toString('base64url'),
        token: count(session.token, exchange),
        confirmToken: async (transaction = db) => {
          const bounds = sessionBounds(clock.nowMs());
          const token = await findTokenBySession(transaction as Database, sha256, bounds);
          return orRefused(usable(token, SESSION_ENDED));
        },
      };
    },
  };
}

function orRefused(token: CallerToken | string): CallerToken {
  if (typeof token === 'string') throw refuseAccess(token);
  return token;
}

function rateLimited(reason: string, window: FixedWindow): GatewayError {
  const seconds = window.resetSeconds;
  return new GatewayError('rate_limit_exceeded', `${reason}; retry after ${seconds} s.`, {
    headers: { 'retry-after': String(seconds) },
  });
}
