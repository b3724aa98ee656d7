import { hash } from 'node:crypto';
import type { JwtAuth } from '../../routing-table/compiled-auth.ts';
import type { JwtCaller } from '../../request/context.ts';
import type { KeySet } from './key-set.ts';

interface VerifiedToken {
  readonly caller: JwtCaller;
  /** The set that it was verified with; a newer set may not contain the key any more. */
  readonly keys: KeySet;
  /** Claim `exp`. */
  readonly expSeconds: number;
}

/**
 * Caches verified tokens, by their SHA-256 and their route's requirements, so that a known token needs no
 * signature check. Above `maxTokens` the oldest token is dropped.
 */
export class VerifiedTokens {
  readonly #maxTokens: number;
  readonly #tokens = new Map<string, VerifiedToken>();
  readonly #policies = new WeakMap<JwtAuth, string>();
  #dropped = 0;

  constructor(maxTokens: number) {
    this.#maxTokens = maxTokens;
  }

  get dropped(): number {
    return this.#dropped;
  }

  /** @param overSeconds seconds since the Unix epoch; a token whose `exp` is not above this has expired */
  find(
    auth: JwtAuth,
    token: string,
    keys: KeySet | undefined,
    overSeconds: number,
  ): JwtCaller | undefined {
    const key = this.#keyOf(auth, token);
    const found = this.#tokens.get(key);
    if (found === undefined) return undefined;
    if (found.keys === keys && found.expSeconds > overSeconds) return found.caller;
    this.#tokens.delete(key);
    return undefined;
  }

  add(auth: JwtAuth, token: string, verified: VerifiedToken): void {
    if (this.#tokens.size >= this.#maxTokens) this.#dropOldest();
    this.#tokens.set(this.#keyOf(auth, token), verified);
  }

  #keyOf(auth: JwtAuth, token: string): string {
    return `${this.#policyOf(auth)} ${hash('sha256', token, 'base64')}`;
  }

  /** The same text for all routes, in any configuration, with the same requirements. */
  #policyOf(auth: JwtAuth): string {
    let policy = this.#policies.get(auth);
    if (policy === undefined) {
      const { issuer, audience, jwksUrl, algorithms } = auth;
      const required = auth.requiredClaims.map(({ name, values }) => [
        name,
        values === undefined ? null : [...values],
      ]);
      const text = JSON.stringify([issuer, audience, jwksUrl, algorithms, required]);
      policy = hash('sha256', text, 'base64');
      this.#policies.set(auth, policy);
    }
    return policy;
  }

  #dropOldest(): void {
    const oldest = this.#tokens.keys().next();
    if (oldest.done === true) return;
    this.#tokens.delete(oldest.value);
    this.#dropped += 1;
  }
}
