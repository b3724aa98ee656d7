import type { Clock } from '@gateway/shared/clock';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { FixedWindowCounters, type FixedWindow } from '@gateway/shared/fixed-window';
import { bearerCredential } from '@gateway/shared/http/headers';
import { addressGroup } from '@gateway/shared/net/client-address';
import { hashTokenSecretBytes, isTokenSecret } from '@gateway/shared/tokens/secret';
import { refuseAccess } from '../domain/access.ts';
import type { TokenUses } from '../ingest/token-uses.ts';
import type { Database } from '../store/database.ts';
import type { CallerToken } from './endpoint.ts';
import type { Exchange } from './reply.ts';
import { TokenLookup } from './token-lookup.ts';

const WINDOW_MS = 60_000;
/** The largest number of addresses, and of tokens, that are counted at once. */
const MAX_KEYS = 100_000;

export interface AuthenticatorOptions {
  readonly db: Database;
  readonly clock: Clock;
  /** Failed authentications that an address may have in a minute. */
  readonly authFailureLimit: number;
  /** Management calls that a token may make in a minute. */
  readonly managementRateLimit: number;
  /** Hears of each call that a token opens. */
  readonly tokenUses: Pick<TokenUses, 'note'>;
}

export interface Authenticator {
  /** What is left to an address, or of IPv6 to its network of 64 bits, of failed authentications. */
  allowance(address: string): FixedWindow;
  /**
   * The token of a call, one of whose management quota is taken.
   *
   * A failure takes one of the address's allowance; past it the answer is 429, so guessing is slow.
   * A good token gets in all the same, so nobody can lock others of the same address out.
   *
   * @throws GatewayError authentication_failed, rate_limit_exceeded
   */
  authenticate(authorization: string | undefined, exchange: Exchange): Promise<CallerToken>;
  /** Counters that made room for others: what they had counted was forgotten. */
  droppedCounters(): number;
}

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { db, clock, authFailureLimit, managementRateLimit } = options;
  const failures = new FixedWindowCounters(MAX_KEYS);
  const calls = new FixedWindowCounters(MAX_KEYS);
  const lookup = new TokenLookup(db, clock);

  async function open(authorization: string | undefined): Promise<CallerToken | string> {
    if (authorization === undefined) return 'No token was sent: Authorization is missing.';
    const secret = bearerCredential(authorization);
    if (secret === undefined) return 'Authorization is not of the form `Bearer <token>`.';
    if (!isTokenSecret(secret)) return 'The token is malformed.';
    const token = await lookup.find(hashTokenSecretBytes(secret));
    if (token === undefined) return 'The token is unknown or was revoked.';
    const { secretExpiresAt, ...opened } = token;
    // A secret that was rotated away grants nothing that outlives it, a newer secret least of all.
    const ends = [token.expires_at, secretExpiresAt].filter((end) => end !== null);
    const expires_at = ends.toSorted((a, b) => +a - +b)[0] ?? null;
    if (expires_at !== null && +expires_at <= clock.nowMs()) return 'The token has expired.';
    return { ...opened, expires_at };
  }

  return {
    allowance(address) {
      return failures.peek(addressGroup(address), authFailureLimit, WINDOW_MS, clock.nowMs());
    },
    droppedCounters: () => failures.dropped + calls.dropped,
    async authenticate(authorization, exchange) {
      const token = await open(authorization);
      const nowMs = clock.nowMs();
      if (typeof token === 'string') {
        const address = addressGroup(exchange.clientAddress);
        exchange.window = failures.take(address, authFailureLimit, WINDOW_MS, nowMs);
        if (exchange.window.granted) throw refuseAccess(token);
        throw limited('Too many failed authentications from this address', exchange.window);
      }
      exchange.tokenId = token.id;
      options.tokenUses.note(token.id, nowMs);
      exchange.window = calls.take(token.id, managementRateLimit, WINDOW_MS, nowMs);
      if (!exchange.window.granted) {
        throw limited('The management quota of this token is used up', exchange.window);
      }
      return token;
    },
  };
}

function limited(reason: string, window: FixedWindow): GatewayError {
  const seconds = window.resetSeconds;
  return new GatewayError('rate_limit_exceeded', `${reason}; retry after ${seconds} s.`, {
    headers: { 'retry-after': String(seconds) },
  });
}
