import type { Clock } from '@gateway/shared/clock';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { createIdFactory } from '@gateway/shared/ids';
import { createTokenSecret, hashTokenSecretBytes } from '@gateway/shared/tokens/secret';
import type { CallerToken } from '../access/caller.ts';
import { findLiveToken } from '../access/store/find-tokens.ts';
import type { ChangeOrigin } from '../changes/store/change-origin.ts';
import type { RolloutWaits } from '../data-planes/rollout-waits.ts';
import type { WaitResult } from '../data-planes/wait-result.ts';
import type { Database } from '../store/database.ts';
import { createToken } from '../tokens/store/change-tokens.ts';

/** How long a token of the console is valid. */
export const CALL_TOKEN_MS = 10 * 60_000;
/** A token that ends sooner is not used for another request, which it could outlive. */
const SPARE_MS = 60_000;
/** How long a request waits until the data planes know its token. */
export const TOKEN_WAIT_MS = 10_000;
/** The largest number of secrets that are kept in memory. */
const MAX_KEPT = 1000;
/** The bound of names is 63; the rest is for the words around the name of the session's token. */
const MAX_NAME_CHARS = 40;

export interface CallTokenOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly newId: ReturnType<typeof createIdFactory>;
  readonly waits: RolloutWaits;
  /** Called for each token that is created. */
  readonly minted: () => void;
}

/** A token for requests of one session through one route. */
export interface CallToken {
  readonly id: string;
  readonly name: string;
  /** Never in a response, a log or the database. */
  readonly secret: string;
  readonly expiresAt: Date;
}

interface Kept extends CallToken {
  /** Whether every live data plane knew it once. */
  isServed: boolean;
}

/** For whom a token is created. */
export interface CallTokenOwner {
  /** Distinguishes sessions. */
  readonly session: string;
  readonly caller: CallerToken;
  readonly origin: ChangeOrigin;
  readonly signal: AbortSignal;
}

/**
 * Creates tokens of ten minutes for the requests of the console. Each covers one route, has only the scope `proxy`, and does
 * not outlive the token of the session, which must cover all of that. Its secret stays in the memory of this process: the
 * browser never gets it. Further requests of the session through the same route use it again.
 */
export class CallTokens {
  readonly #options: CallTokenOptions;
  readonly #kept = new Map<string, Kept>();

  constructor(options: CallTokenOptions) {
    this.#options = options;
  }

  /**
   * A token that every live data plane knows.
   *
   * @throws GatewayError data_plane_unavailable, authentication_failed, environment_not_found
   */
  async take(
    owner: CallTokenOwner,
    route: { readonly environment: string; readonly name: string },
  ): Promise<CallToken> {
    const { environment, name } = route;
    const key = JSON.stringify([owner.session, environment, name]);
    const token = (await this.#live(key)) ?? (await this.#mint(key, owner, environment, name));
    if (token.isServed) return token;
    const { waits } = this.#options;
    const result = await waits.wait([environment], TOKEN_WAIT_MS, owner.signal, [token.id]);
    if (!isServed(result)) throw notServed(result);
    token.isServed = true;
    return token;
  }

  /** The kept token, unless it ends soon or was revoked. */
  async #live(key: string): Promise<Kept | undefined> {
    const kept = this.#kept.get(key);
    const { clock, db } = this.#options;
    if (kept === undefined) return undefined;
    const lasts = +kept.expiresAt - clock.nowMs() > SPARE_MS;
    if (lasts && (await findLiveToken(db, kept.id)) !== undefined) return kept;
    this.#kept.delete(key);
    return undefined;
  }

  async #mint(
    key: string,
    { caller, origin }: CallTokenOwner,
    environment: string,
    route: string,
  ): Promise<Kept> {
    const { db, clock, newId, minted } = this.#options;
    const id = newId('tok');
    const secret = createTokenSecret();
    const end = Math.min(clock.nowMs() + CALL_TOKEN_MS, Number(caller.expires_at ?? Infinity));
    const expiresAt = new Date(end);
    const owner = (await findLiveToken(db, caller.id))?.name.slice(0, MAX_NAME_CHARS).trim();
    // Names are unique, and a session may need another token before the name of its last one is free.
    const name = `console of ${owner ?? 'nobody'} ${id.slice(-8)}`;
    await createToken(
      db,
      {
        id,
        name,
        environments: [environment],
        routes: [route],
        scopes: ['proxy'],
        expires_at: expiresAt,
        created_by: caller.id,
        secret_sha256: hashTokenSecretBytes(secret),
      },
      origin,
    );
    minted();
    const kept = { id, name, secret, expiresAt, isServed: false };
    this.#keep(key, kept);
    return kept;
  }

  #keep(key: string, token: Kept): void {
    const nowMs = this.#options.clock.nowMs();
    for (const [other, { expiresAt }] of this.#kept) {
      if (+expiresAt <= nowMs) this.#kept.delete(other);
    }
    this.#kept.set(key, token);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }
}

/** An element of the configuration that a data plane cannot use may be any; it would refuse the token with 401. */
function isServed(result: WaitResult): boolean {
  return result === 'applied' || result === 'configuration_unusable';
}

const REASONS: Readonly<Record<WaitResult, string>> = {
  applied: '',
  configuration_unusable: '',
  not_published: 'its configuration is not published yet',
  data_planes_behind: 'some data plane serves an older configuration',
  no_live_data_planes: 'no data plane is live',
  too_many_waiting: 'too many changes wait for the data planes',
  stopping: 'this control plane stops',
};

function notServed(result: WaitResult): GatewayError {
  const message = `The data planes do not know the token of ten minutes yet: ${REASONS[result]}. Nothing was sent.`;
  return new GatewayError('data_plane_unavailable', message, { headers: { 'retry-after': '2' } });
}
