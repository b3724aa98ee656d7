import type { Clock } from '@gateway/shared/clock';
import { Instruments } from '@gateway/shared/telemetry/instruments';
import { decodeJwt } from 'jose';
import type { Counter, Registry } from 'prom-client';
import type { JwtAuth } from '../../routing-table/compiled-auth.ts';
import type { JwtCaller } from '../../request/context.ts';
import { callerOf } from './jwt-caller.ts';
import type { KeySet } from './key-set.ts';
import type { KeySets } from './key-sets.ts';
import type { RemoteKeySet } from './remote-key-set.ts';
import { VerifiedTokens } from './verified-tokens.ts';
import { CLOCK_SKEW_SECONDS, verifyJwt, type Verification } from './verify-jwt.ts';

/** The values of the label `result`. */
const RESULTS = [
  'verified',
  'known',
  'refused',
  'no_key',
  'no_keys',
  'unusable_key',
  'not_checked',
];

/** The result of verifying a token. */
export type JwtVerdict =
  | { readonly kind: 'caller'; readonly caller: JwtCaller }
  /** The reason is undefined unless a key of the issuer signed the token: nobody else may learn one. */
  | { readonly kind: 'refused'; readonly reason: string | undefined }
  /** It is malformed or names another issuer than the route. */
  | { readonly kind: 'other_issuer' }
  /** It is not known, and its signature may not be checked now. */
  | { readonly kind: 'not_checked' }
  /** There are no keys to verify the token with; the next fetch starts in this many seconds. */
  | { readonly kind: 'no_keys'; readonly retryAfterSeconds: number };

/** Verifies the tokens of callers. */
export interface JwtVerifier {
  /**
   * Returns no promise for a token that was verified before, and for one that does not name the issuer of the route.
   *
   * @param deadlineMs how long to wait for keys: a time of the monotonic clock
   * @param mayCheck whether the signature of a token that was not verified before may be checked
   */
  verify(
    auth: JwtAuth,
    token: string,
    deadlineMs: number,
    mayCheck: () => boolean,
  ): JwtVerdict | Promise<JwtVerdict>;
}

/** Verifies the token of a caller without any effect. */
export interface DryJwtVerifier {
  /** Verifies with the keys that are held now: fetches none, and counts and remembers nothing. */
  verifyWithoutEffect(auth: JwtAuth, token: string, mayCheck: () => boolean): Promise<JwtVerdict>;
}

export interface KeySetVerifierOptions {
  readonly keySets: KeySets;
  readonly clock: Clock;
  readonly registry: Registry;
}

/** The refusal of a token that no key of the issuer signed. */
const UNSIGNED = { kind: 'refused', reason: undefined } as const;
const OTHER_ISSUER = { kind: 'other_issuer' } as const;

const MAX_TOKEN_CHARS = 8 * 1024;
const MAX_VERIFIED_TOKENS = 10_000;

/** Verifies tokens with the key sets of their issuers. */
export class KeySetVerifier implements JwtVerifier, DryJwtVerifier {
  readonly #options: KeySetVerifierOptions;
  readonly #verified = new VerifiedTokens(MAX_VERIFIED_TOKENS);
  readonly #results: Counter<'result'>;

  constructor(options: KeySetVerifierOptions) {
    this.#options = options;
    this.#results = new Instruments(options.registry).counterBy(
      'gateway_jwt_verifications_total',
      'JWTs of callers, by result; a `known` token was verified before',
      'result',
      RESULTS,
    );
  }

  /** How many verified tokens were forgotten because there were too many; they are verified again. */
  get dropped(): number {
    return this.#verified.dropped;
  }

  verify(
    auth: JwtAuth,
    token: string,
    deadlineMs: number,
    mayCheck: () => boolean,
  ): JwtVerdict | Promise<JwtVerdict> {
    const set = this.#options.keySets.at(auth.jwksUrl);
    const caller = this.#known(auth, token, set.keys);
    if (caller !== undefined) {
      this.#results.inc({ result: 'known' });
      return { kind: 'caller', caller };
    }
    if (!namesIssuer(token, auth)) {
      this.#results.inc({ result: 'refused' });
      return OTHER_ISSUER;
    }
    if (mayCheck()) return this.#verifyUnknown(auth, token, set, deadlineMs);
    this.#results.inc({ result: 'not_checked' });
    return { kind: 'not_checked' };
  }

  async verifyWithoutEffect(
    auth: JwtAuth,
    token: string,
    mayCheck: () => boolean,
  ): Promise<JwtVerdict> {
    const set = this.#options.keySets.find(auth.jwksUrl);
    const keys = set?.keys;
    const known = this.#known(auth, token, keys);
    if (known !== undefined) return { kind: 'caller', caller: known };
    if (!namesIssuer(token, auth)) return OTHER_ISSUER;
    if (!mayCheck()) return { kind: 'not_checked' };
    if (keys === undefined) {
      return { kind: 'no_keys', retryAfterSeconds: set?.retryAfterSeconds ?? 1 };
    }
    const verification = await verifyJwt(token, auth, keys, this.#options.clock.nowMs());
    if (verification.kind !== 'valid') return refusedBy(verification);
    return { kind: 'caller', caller: callerOf(verification.payload, auth, token) };
  }

  #known(auth: JwtAuth, token: string, keys: KeySet | undefined): JwtCaller | undefined {
    const overSeconds = Math.floor(this.#options.clock.nowMs() / 1000) - CLOCK_SKEW_SECONDS;
    return this.#verified.find(auth, token, keys, overSeconds);
  }

  async #verifyUnknown(
    auth: JwtAuth,
    token: string,
    set: RemoteKeySet,
    deadlineMs: number,
  ): Promise<JwtVerdict> {
    const keys = set.keys ?? (await this.#keysAfterRenewal(set, deadlineMs));
    if (keys === undefined) {
      this.#results.inc({ result: 'no_keys' });
      return { kind: 'no_keys', retryAfterSeconds: set.retryAfterSeconds };
    }
    const verification = await verifyJwt(token, auth, keys, this.#options.clock.nowMs());
    if (verification.kind !== 'no_key') return this.#verdictOf(auth, token, keys, verification);
    // The issuer may have started to sign with a new key.
    const newer = await this.#keysAfterRenewal(set, deadlineMs);
    const again =
      newer === undefined || newer === keys
        ? verification
        : await verifyJwt(token, auth, newer, this.#options.clock.nowMs());
    return this.#verdictOf(auth, token, newer ?? keys, again);
  }

  #verdictOf(auth: JwtAuth, token: string, keys: KeySet, verification: Verification): JwtVerdict {
    if (verification.kind === 'valid') {
      const { payload } = verification;
      const caller = callerOf(payload, auth, token);
      this.#verified.add(auth, token, { caller, keys, expSeconds: payload.exp });
      this.#results.inc({ result: 'verified' });
      return { kind: 'caller', caller };
    }
    this.#results.inc({ result: verification.kind });
    return refusedBy(verification);
  }

  /** The keys after the next fetch; the current keys if the deadline passes first or no fetch is allowed. */
  async #keysAfterRenewal(set: RemoteKeySet, deadlineMs: number): Promise<KeySet | undefined> {
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

/**
 * Whether the token says that the issuer of the route made it. It proves nothing, because anybody can write that. Only
 * such a token is checked, waits for the keys of the issuer, or learns that they are not available. A caller that does
 * not know the issuer must not be able to tell by a wait that the route takes JWTs.
 */
function namesIssuer(token: string, { issuer }: JwtAuth): boolean {
  if (token.length > MAX_TOKEN_CHARS) return false;
  try {
    return decodeJwt(token).iss === issuer;
  } catch {
    return false;
  }
}

function refusedBy(verification: Exclude<Verification, { kind: 'valid' }>): JwtVerdict {
  return verification.kind === 'refused' ? verification : UNSIGNED;
}
