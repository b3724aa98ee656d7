import { ReadyStreams } from '@gateway/shared/messaging/ready-streams';
import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import { headers } from '@nats-io/nats-core';
import { orAborted } from './await-link.ts';
import type { JetStream, NatsLink } from './nats-link.ts';

/** There is no connection to NATS, or it was lost during the call. */
export class NatsAwayError extends Error {
  override readonly name = 'NatsAwayError';
}

/** The stream has reached its size limit. */
export class StreamFullError extends Error {
  override readonly name = 'StreamFullError';
}

/** A subject of a stream that holds one value. */
export interface ValueKey {
  readonly stream: string;
  readonly subject: string;
}

export interface StreamValue {
  /** Sequence of the subject's newest message; 0 if there is none. */
  readonly revision: number;
  /** undefined: nothing was written, or it was removed. */
  readonly value: Uint8Array | undefined;
}

/** The mark of a removed key in NATS KV (ADR-8). */
const OPERATION_HEADER = 'KV-Operation';
const CONFLICT = new Set<number>([
  JetStreamApiCodes.StreamWrongLastSequence,
  JetStreamApiCodes.StreamWrongLastSequenceUnknown,
]);
/** nats-server's "maximum bytes exceeded" and "insufficient storage resources available". */
const FULL = new Set([10077, 10047]);

/**
 * Values in buckets of NATS KV, changed by compare-and-set. A write names the sequence that the subject's
 * newest message must have, and the server decides. A read asks the stream's leader: a direct get may not
 * see a write that was acknowledged before it. Calls end at once when the connection is lost.
 */
export class StreamValues {
  readonly #link: NatsLink;
  readonly #ready = new ReadyStreams();
  /** Reject the calls under way. */
  readonly #rejections = new Set<(error: Error) => void>();

  constructor(link: NatsLink) {
    this.#link = link;
    link.onChange(() => {
      if (link.connection !== undefined) return;
      this.#ready.forget();
      const error = new NatsAwayError('the connection to NATS was lost');
      for (const reject of this.#rejections) reject(error);
      this.#rejections.clear();
    });
  }

  /** @throws NatsAwayError, or the client's error if the stream is missing or does not answer in time */
  async read({ stream, subject }: ValueKey, timeoutMs: number): Promise<StreamValue> {
    const { client, manager } = this.#jetstream();
    const reading = this.#ready
      .ensure(client, stream, subject)
      .then(() => manager)
      .then((api) => api.streams.getMessage(stream, { last_by_subj: subject }));
    const message = await orAborted(this.#unlessLost(reading), AbortSignal.timeout(timeoutMs));
    if (message === null) return { revision: 0, value: undefined };
    // The client decodes `data` at each access. A key that a tool purged has an empty message.
    const { data } = message;
    const removed = data.length === 0 || message.header.has(OPERATION_HEADER);
    return { revision: message.seq, value: removed ? undefined : data };
  }

  /**
   * Writes the value, or removes it if it is undefined, if the subject still has this revision.
   *
   * @returns the new revision, or undefined if the subject has another revision
   * @throws StreamFullError; NatsAwayError or the client's TimeoutError, after which the value may have
   * been written or may yet be
   */
  async write(
    { stream, subject }: ValueKey,
    value: Uint8Array | string | undefined,
    revision: number,
    timeoutMs: number,
  ): Promise<number | undefined> {
    const fields = headers();
    if (value === undefined) fields.set(OPERATION_HEADER, 'DEL');
    const writing = this.#jetstream().client.publish(subject, value, {
      headers: fields,
      timeout: timeoutMs,
      expect: { streamName: stream, lastSubjectSequence: revision },
    });
    try {
      const { seq } = await this.#unlessLost(writing);
      return seq;
    } catch (error) {
      if (!(error instanceof JetStreamApiError)) throw error;
      if (CONFLICT.has(error.code)) return undefined;
      if (FULL.has(error.code)) throw new StreamFullError(error.message, { cause: error });
      throw error;
    }
  }

  /**
   * Settles as the call does, or rejects when the connection is lost. A set of callbacks, because an AbortSignal
   * costs several times as much, and every request with an idempotency key writes twice.
   */
  #unlessLost<T>(call: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#rejections.add(reject);
      call.then(
        (value) => {
          this.#rejections.delete(reject);
          resolve(value);
        },
        (error: unknown) => {
          this.#rejections.delete(reject);
          reject(error instanceof Error ? error : new Error(String(error)));
        },
      );
    });
  }

  #jetstream(): JetStream {
    const { jetstream } = this.#link;
    if (jetstream === undefined) throw new NatsAwayError('NATS is away');
    return jetstream;
  }
}
