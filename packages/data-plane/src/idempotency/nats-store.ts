import type { Clock } from '@gateway/shared/clock';
import { NAMES } from '@gateway/shared/messaging/names';
import type { NatsLink } from '../nats/nats-link.ts';
import { StreamFullError, StreamValues, type ValueKey } from '../nats/stream-values.ts';
import {
  StoreFullError,
  StoreUnavailableError,
  type IdempotencyStore,
  type StoredValue,
} from './idempotency-store.ts';
import { BucketRoom, type BucketFill } from './bucket-room.ts';

const STREAM = `KV_${NAMES.idempotencyBucket}`;
/** The timeout of each call. A claim needs at most two, so a keyed request is refused soon and not at its deadline. */
const CALL_TIMEOUT_MS = 750;
const MAX_VALUE_BYTES = 512 * 1024;
/** The size of subject and headers, which count towards the largest message of the server. */
const MESSAGE_OVERHEAD_BYTES = 4096;

/**
 * Stores idempotency keys in a bucket of NATS KV that all data planes share and the control plane creates. A missing or
 * full bucket counts as unavailable, so that no request with a key runs unguarded.
 */
export class NatsIdempotencyStore implements IdempotencyStore {
  readonly #link: NatsLink;
  readonly #values: StreamValues;
  readonly #room: BucketRoom;

  constructor(link: NatsLink, clock: Clock) {
    this.#link = link;
    this.#values = new StreamValues(link, clock);
    this.#room = new BucketRoom(clock, () => this.#fill());
  }

  get losses(): number {
    return this.#link.losses;
  }

  get hasRoom(): boolean {
    return this.#room.hasRoom;
  }

  get maxValueBytes(): number {
    const limit = this.#link.connection?.info?.max_payload ?? MAX_VALUE_BYTES;
    return Math.min(MAX_VALUE_BYTES, limit - MESSAGE_OVERHEAD_BYTES);
  }

  read(name: string): Promise<StoredValue> {
    return orUnavailable(this.#values.read(placeOf(name), CALL_TIMEOUT_MS));
  }

  write(name: string, value: Uint8Array, revision: number): Promise<number | undefined> {
    return orUnavailable(this.#values.write(placeOf(name), value, revision, CALL_TIMEOUT_MS));
  }

  remove(name: string, revision: number): Promise<number | undefined> {
    return orUnavailable(this.#values.write(placeOf(name), undefined, revision, CALL_TIMEOUT_MS));
  }

  async #fill(): Promise<BucketFill> {
    const manager = await this.#link.jetstream?.manager;
    if (manager === undefined) throw new StoreUnavailableError('NATS is not connected');
    const { state, config } = await manager.streams.info(STREAM);
    return { bytes: state.bytes, maxBytes: config.max_bytes };
  }
}

function placeOf(name: string): ValueKey {
  return { stream: STREAM, subject: `$KV.${NAMES.idempotencyBucket}.${name}` };
}

/** Turns every error into one that says that the store cannot be used now. */
function orUnavailable<T>(call: Promise<T>): Promise<T> {
  return call.catch(unavailable);
}

function unavailable(cause: unknown): never {
  const reason = cause instanceof Error ? cause.message : String(cause);
  if (cause instanceof StreamFullError) throw new StoreFullError(reason, { cause });
  throw new StoreUnavailableError(reason, { cause });
}
