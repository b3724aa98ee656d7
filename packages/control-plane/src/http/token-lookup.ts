import type { Clock } from '@gateway/shared/clock';
import type { OpenedToken } from '../access/store/find-tokens.ts';

/** How long a secret without a token is not looked up again, ms. */
export const UNKNOWN_SECRET_MS = 1000;
const MAX_UNKNOWN_SECRETS = 10_000;

/**
 * Finds the token of a secret, or of the id of a session. A secret without a token costs one query a second, however often and in
 * however many calls at once it comes: past the failure limit as well, because a valid token must
 * always be found.
 *
 * A found token is not remembered, so a revocation takes effect at once. Nor is the secret of a new
 * token ever remembered as unknown: it is random, so nobody sends it before it exists. Only the
 * operator knows one beforehand, `GATEWAY_ADMIN_TOKEN`.
 */
export class TokenLookup<Token extends OpenedToken> {
  readonly #query: (sha256: Buffer) => Promise<Token | undefined>;
  readonly #clock: Clock;
  readonly #maxUnknown: number;
  /** Secrets without a token, by hash: until when they are not looked up again, monotonic ms; oldest first. */
  readonly #unknownUntilMs = new Map<string, number>();
  readonly #queries = new Map<string, Promise<Token | undefined>>();

  /** @param query finds the token of the secret with this SHA-256 */
  constructor(
    query: (sha256: Buffer) => Promise<Token | undefined>,
    clock: Clock,
    maxUnknown = MAX_UNKNOWN_SECRETS,
  ) {
    this.#query = query;
    this.#clock = clock;
    this.#maxUnknown = maxUnknown;
  }

  /** The token of the secret with this SHA-256. */
  async find(sha256: Buffer): Promise<Token | undefined> {
    const key = sha256.toString('base64');
    if (this.#clock.monotonicMs() < (this.#unknownUntilMs.get(key) ?? -Infinity)) return undefined;
    const running = this.#queries.get(key);
    // Only the absence of a token is shared. The query may have read a token that was revoked before this call.
    if (running !== undefined && (await running) === undefined) return undefined;
    return this.#lookUp(sha256, key);
  }

  async #lookUp(sha256: Buffer, key: string): Promise<Token | undefined> {
    const startedMs = this.#clock.monotonicMs();
    const query = this.#query(sha256);
    this.#queries.set(key, query);
    try {
      const token = await query;
      if (token === undefined) this.#remember(key, startedMs + UNKNOWN_SECRET_MS);
      return token;
    } finally {
      if (this.#queries.get(key) === query) this.#queries.delete(key);
    }
  }

  #remember(key: string, untilMs: number): void {
    this.#unknownUntilMs.delete(key);
    this.#unknownUntilMs.set(key, untilMs);
    if (this.#unknownUntilMs.size <= this.#maxUnknown) return;
    const [oldest] = this.#unknownUntilMs.keys();
    if (oldest !== undefined) this.#unknownUntilMs.delete(oldest);
  }
}
