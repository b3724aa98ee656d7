import type { Clock } from '@gateway/shared/clock';
import { Counter, type Registry } from 'prom-client';
import type { JwtAuth } from '../../routing-table/routing-table.ts';
import type { JwtCaller } from '../../request/context.ts';
import { callerOf } from './jwt-caller.ts';
import type { KeySet } from './key-set.ts';
import type { KeySets } from './key-sets.ts';
import type { RemoteKeySet } from './remote-key-set.ts';
import { VerifiedTokens } from './verified-tokens.ts';
import { CLOCK_SKEW_SECONDS, NOT_VALID, verifyJwt, type Verification } from './verify-jwt.ts';

/** What came of a token. */
export type JwtVerdict =
  | { readonly kind: 'caller'; readonly caller: JwtCaller }
  | { readonly kind: 'refused'; readonly reason: string }
  /** There is no key to verify it with, so nobody can tell; the next fetch is in so many seconds. */
  | { readonly kind: 'no_keys'; readonly retryAfterSeconds: number };

/** Verifies the tokens of callers. Answers at once where it has verified the token before. */
export interface JwtVerifier {
  /** @param deadlineMs until when keys may be waited for, by the monotonic clock. */
  verify(auth: JwtAuth, token: string, deadlineMs: number): JwtVerdict | Promise<JwtVerdict>;
}

export interface KeySetVerifierOptions {
  readonly keySets: KeySets;
  readonly clock: Clock;
  readonly registry: Registry;
}

const MAX_TOKEN_CHARS = 8 * 1024;
const MAX_VERIFIED_TOKENS = 10_000;

/** Verifies with the key sets of the issuers. */
export class KeySetVerifier implements JwtVerifier {
  readonly #options: KeySetVerifierOptions;
  readonly #verified = new VerifiedTokens(MAX_VERIFIED_TOKENS);
  readonly #results: Counter<'result'>;

  constructor(options: KeySetVerifierOptions) {
    this.#options = options;
    this.#results = new Counter({
      name: 'gateway_jwt_verifications_total',
      help: 'JWTs of callers, by what came of them: `known` ones were verified before.',
      labelNames: ['result'],
      registers: [options.registry],
    });
  }

  /** Tokens that were dropped at the bound, and are verified again when they come again. */
  get dropped(): number {
    return this.#verified.dropped;
  }

  verify(auth: JwtAuth, token: string, deadlineMs: number): JwtVerdict | Promise<JwtVerdict> {
    if (token.length > MAX_TOKEN_CHARS) {
      this.#results.inc({ result: 'refused' });
      return { kind: 'refused', reason: NOT_VALID };
    }
    const set = this.#options.keySets.at(auth.jwksUrl);
    const overSeconds = Math.floor(this.#options.clock.nowMs() / 1000) - CLOCK_SKEW_SECONDS;
    const caller = this.#verified.find(auth, token, set.keys, overSeconds);
    if (caller === undefined) return this.#verifyAnew(auth, token, set, deadlineMs);
    this.#results.inc({ result: 'known' });
    return { kind: 'caller', caller };
  }

  async #verifyAnew(
    auth: JwtAuth,
    token: string,
    set: RemoteKeySet,
    deadlineMs: number,
  ): Promise<JwtVerdict> {
    const keys = set.keys ?? (await this.#renewed(set, deadlineMs));
    if (keys === undefined) {
      this.#results.inc({ result: 'no_keys' });
      return { kind: 'no_keys', retryAfterSeconds: set.retryAfterSeconds };
    }
    const verification = await verifyJwt(token, auth, keys, this.#options.clock.nowMs());
    if (verification.kind !== 'no_key') return this.#settle(auth, token, keys, verification);
    // The issuer may have begun to sign with a new key.
    const newer = await this.#renewed(set, deadlineMs);
    const again =
      newer === undefined || newer === keys
        ? verification
        : await verifyJwt(token, auth, newer, this.#options.clock.nowMs());
    return this.#settle(auth, token, newer ?? keys, again);
  }

  #settle(auth: JwtAuth, token: string, keys: KeySet, verification: Verification): JwtVerdict {
    if (verification.kind === 'valid') {
      const { payload } = verification;
      const caller = callerOf(payload, auth, token);
      this.#verified.add(auth, token, { caller, keys, expSeconds: payload.exp });
      this.#results.inc({ result: 'verified' });
      return { kind: 'caller', caller };
    }
    this.#results.inc({ result: verification.kind });
    return {
      kind: 'refused',
      reason: verification.kind === 'refused' ? verification.reason : NOT_VALID,
    };
  }

  /** The set after the next fetch, or as it is where the deadline passes before, or none is allowed. */
  async #renewed(set: RemoteKeySet, deadlineMs: number): Promise<KeySet | undefined> {
    const renewal = set.renewal();
    if (renewal === undefined) return set.keys;
    const { clock } = this.#options;
    const passed = Promise.withResolvers<undefined>();
    const leftMs = Math.max(0, deadlineMs - clock.monotonicMs());
    const timer = clock.setTimer(leftMs, () => passed.resolve(undefined));
    await Promise.race([renewal, passed.promise]);
    timer.cancel();
    return set.keys;
  }
}
