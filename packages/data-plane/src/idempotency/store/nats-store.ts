import { messageOf } from '@gateway/shared/errors/message-of';
import type { Clock } from '@gateway/shared/clock';
import { NAMES } from '@gateway/shared/messaging/names';
import { RETENTION_MS } from '@gateway/shared/messaging/retention';
import {
  BucketBounds,
  type BucketBound,
  type BucketParts,
  type EntryOwner,
} from '../../nats/bucket-bounds.ts';
import { BucketFill, sizeOf } from '../../nats/bucket-fill.ts';
import type { HeldEntry } from '../../nats/held-bytes.ts';
import type { NatsLink } from '../../nats/nats-link.ts';
import { StreamFullError, StreamValues, type ValueKey } from '../../nats/stream-values.ts';
import {
  StoreFullError,
  StoreUnavailableError,
  type IdempotencyStore,
  type StoredValue,
} from './idempotency-store.ts';

const STREAM = `KV_${NAMES.idempotencyBucket}`;
/** The timeout of each call. A claim needs at most two, so a keyed request is refused soon and not at its deadline. */
const CALL_TIMEOUT_MS = 750;
const MAX_VALUE_BYTES = 512 * 1024;
/** What NATS stores of a message besides its value, bytes. */
const MESSAGE_BYTES = 200;
/**
 * A tenth is for outcomes of requests in flight, which would otherwise stay unknown. The next two are for routes that
 * have few keys. Callers without credentials have half.
 */
const PARTS: BucketParts = {
  withCredentials: { all: 0.9, free: 0.7, route: 0.1 },
  withoutCredentials: { all: 1 / 2, free: 1 / 4, route: 1 / 4 },
};
/** The size of subject and headers, which count towards the largest message of the server. */
const MESSAGE_OVERHEAD_BYTES = 4096;

/**
 * Stores idempotency keys in a bucket of NATS KV that all data planes share and the control plane creates. A missing or
 * full bucket counts as unavailable, so that no request with a key runs unguarded.
 */
export class NatsIdempotencyStore implements IdempotencyStore {
  readonly #link: NatsLink;
  readonly #values: StreamValues;
  readonly #fill: BucketFill;
  readonly bounds: BucketBounds;

  /** @param nodes the number of live data planes, this one included */
  constructor(link: NatsLink, clock: Clock, nodes: () => number) {
    this.#link = link;
    this.#values = new StreamValues(link, clock);
    this.#fill = new BucketFill(clock, sizeOf(link, STREAM));
    const keptMs = RETENTION_MS.idempotency;
    this.bounds = new BucketBounds({ clock, fill: this.#fill, parts: PARTS, keptMs, nodes });
  }

  get losses(): number {
    return this.#link.losses;
  }

  get hasRoom(): boolean {
    return this.bounds.fillPart < PARTS.withCredentials.all;
  }

  boundOf(owner: EntryOwner): BucketBound | undefined {
    return this.bounds.boundOf(owner);
  }

  admit(owner: EntryOwner): BucketBound | undefined {
    return this.bounds.admit(owner, MESSAGE_BYTES);
  }

  stored(owner: EntryOwner, bytes: number, claim?: HeldEntry, wasFreed = false): void {
    this.bounds.wrote(owner, bytes + MESSAGE_BYTES, claim, wasFreed);
    this.#fill.add(bytes);
  }

  freed(claim: HeldEntry): void {
    this.bounds.forgot(claim);
  }

  get maxValueBytes(): number {
    const limit = this.#link.connection?.info?.max_payload ?? MAX_VALUE_BYTES;
    return Math.min(MAX_VALUE_BYTES, limit - MESSAGE_OVERHEAD_BYTES);
  }

  read(name: string): Promise<StoredValue> {
    return orUnavailable(this.#values.read(valueKeyOf(name), CALL_TIMEOUT_MS));
  }

  write(name: string, value: Uint8Array, revision: number): Promise<number | undefined> {
    return orUnavailable(this.#values.write(valueKeyOf(name), value, revision, CALL_TIMEOUT_MS));
  }

  remove(name: string, revision: number): Promise<number | undefined> {
    return orUnavailable(
      this.#values.write(valueKeyOf(name), undefined, revision, CALL_TIMEOUT_MS),
    );
  }
}

function valueKeyOf(name: string): ValueKey {
  return { stream: STREAM, subject: `$KV.${NAMES.idempotencyBucket}.${name}` };
}

/** Turns every error into one that says that the store cannot be used now. */
function orUnavailable<T>(call: Promise<T>): Promise<T> {
  return call.catch(unavailable);
}

function unavailable(cause: unknown): never {
  const reason = messageOf(cause);
  if (cause instanceof StreamFullError) throw new StoreFullError(reason, { cause });
  throw new StoreUnavailableError(reason, { cause });
}
