import type { Clock } from '@gateway/shared/clock';
import { NAMES } from '@gateway/shared/messaging/names';
import { WholeStreams } from '@gateway/shared/messaging/whole-streams';
import { headers } from '@nats-io/nats-core';
import { jetStreamOver, type JetStreamCalls } from '../nats/jetstream-calls.ts';
import { isConflict, isFull } from '../nats/jetstream-errors.ts';
import type { NatsLink } from '../nats/nats-link.ts';
import {
  NOTHING_STORED,
  StoreFullError,
  StoreUnavailableError,
  type IdempotencyStore,
  type StoredValue,
} from './idempotency-store.ts';
import { BucketRoom, type BucketFill } from './bucket-room.ts';

const STREAM = `KV_${NAMES.idempotencyBucket}`;
const SUBJECT_PREFIX = `$KV.${NAMES.idempotencyBucket}.`;
/** The marks of NATS KV (ADR-8), so that its tools show what is here. */
const OPERATION_HEADER = 'KV-Operation';
/** For each call, of which a claim needs two at most: a keyed request is refused then, not held until its deadline. */
const CALL_TIMEOUT_MS = 750;
const MAX_VALUE_BYTES = 512 * 1024;
/** For the subject and the headers, which count towards the server's largest message. */
const MESSAGE_OVERHEAD_BYTES = 4096;

/**
 * The bucket of NATS KV that all data planes share; the control plane makes it. A revision is the
 * sequence of the subject's last message, and reads are answered by the stream's leader. A bucket that
 * is not there, or is full, counts as unavailable: no key is taken without its guard.
 */
export class NatsIdempotencyStore implements IdempotencyStore {
  losses = 0;
  readonly #link: NatsLink;
  readonly #calls: () => JetStreamCalls | undefined;
  readonly #whole = new WholeStreams();
  readonly #room: BucketRoom;

  constructor(link: NatsLink, clock: Clock) {
    this.#link = link;
    this.#room = new BucketRoom(clock, () => this.#fill());
    this.#calls = jetStreamOver(link, CALL_TIMEOUT_MS);
    link.onChange(() => {
      if (link.connection !== undefined) return;
      this.losses += 1;
      this.#whole.forget();
    });
  }

  get hasRoom(): boolean {
    return this.#room.hasRoom;
  }

  get maxValueBytes(): number {
    const limit = this.#link.connection?.info?.max_payload ?? MAX_VALUE_BYTES;
    return Math.min(MAX_VALUE_BYTES, limit - MESSAGE_OVERHEAD_BYTES);
  }

  async read(name: string): Promise<StoredValue> {
    try {
      const calls = this.#open();
      await this.#whole.assure(calls.client, STREAM, SUBJECT_PREFIX + name);
      const manager = await calls.manager;
      const query = { last_by_subj: SUBJECT_PREFIX + name };
      const message = await manager.streams.getMessage(STREAM, query);
      if (message === null) return NOTHING_STORED;
      const removed = message.header.has(OPERATION_HEADER);
      return { revision: message.seq, value: removed ? undefined : message.data };
    } catch (error) {
      throw unavailable(error);
    }
  }

  write(name: string, value: Uint8Array, revision: number): Promise<number | undefined> {
    return this.#change(name, value, revision);
  }

  remove(name: string, revision: number): Promise<number | undefined> {
    return this.#change(name, undefined, revision);
  }

  async #change(
    name: string,
    value: Uint8Array | undefined,
    revision: number,
  ): Promise<number | undefined> {
    const fields = headers();
    if (value === undefined) fields.set(OPERATION_HEADER, 'DEL');
    try {
      const ack = await this.#open().client.publish(SUBJECT_PREFIX + name, value, {
        headers: fields,
        timeout: CALL_TIMEOUT_MS,
        expect: { streamName: STREAM, lastSubjectSequence: revision },
      });
      return ack.seq;
    } catch (error) {
      if (isConflict(error)) return undefined;
      throw unavailable(error);
    }
  }

  async #fill(): Promise<BucketFill> {
    const manager = await this.#open().manager;
    const { state, config } = await manager.streams.info(STREAM);
    return { bytes: state.bytes, maxBytes: config.max_bytes };
  }

  #open(): JetStreamCalls {
    const calls = this.#calls();
    if (calls === undefined) throw new StoreUnavailableError('NATS is away');
    return calls;
  }
}

function unavailable(error: unknown): StoreUnavailableError {
  if (error instanceof StoreUnavailableError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  if (isFull(error)) return new StoreFullError(reason, { cause: error });
  return new StoreUnavailableError(reason, { cause: error });
}
