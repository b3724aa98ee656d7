import { decimalText } from '../text/decimal-text.ts';
import { ReadyStreams } from '@gateway/shared/messaging/ready-streams';
import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import type { MsgHdrs } from '@nats-io/nats-core';
import type { Clock } from '@gateway/shared/clock';
import { AckedPublisher, NatsAwayError, type StreamAnswer } from './acked-publisher.ts';
import { orAborted } from './await-link.ts';
import type { JetStream, NatsLink } from './nats-link.ts';

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

const EXPECTED_REVISION = 'Nats-Expected-Last-Subject-Sequence';
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
  readonly #publisher: AckedPublisher;
  /** Reject the reads under way. */
  readonly #rejections = new Set<(error: Error) => void>();

  constructor(link: NatsLink, clock: Clock) {
    this.#link = link;
    this.#publisher = new AckedPublisher(link, clock);
    link.onChange(() => {
      if (link.connection !== undefined) return;
      this.#ready.forget();
      const error = new NatsAwayError('the connection to NATS was lost');
      for (const reject of this.#rejections) reject(error);
    });
  }

  /** @throws NatsAwayError, or the client's error if the stream is missing or does not answer in time */
  async read({ stream, subject }: ValueKey, timeoutMs: number): Promise<StreamValue> {
    const { client, manager } = this.#jetstream();
    const reading = this.#ready
      .ensure(client, stream, subject)
      .then(() => manager)
      .then((api) => api.streams.getMessage(stream, { last_by_subj: subject }));
    const message = await this.#unlessLost(reading, AbortSignal.timeout(timeoutMs));
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
  write(
    { subject }: Pick<ValueKey, 'subject'>,
    value: Uint8Array | string | undefined,
    revision: number,
    timeoutMs: number,
  ): Promise<number | undefined> {
    const fields = encodedHeaders(conditions(revision, value === undefined));
    return this.#publisher.publish(subject, value, fields, timeoutMs).then(revisionOf);
  }

  /** Settles as the call does, or rejects when the connection is lost or the time is over. */
  async #unlessLost<T>(call: Promise<T>, timeUp: AbortSignal): Promise<T> {
    const lost = Promise.withResolvers<T>();
    this.#rejections.add(lost.reject);
    try {
      return await orAborted(Promise.race([call, lost.promise]), timeUp);
    } finally {
      this.#rejections.delete(lost.reject);
    }
  }

  #jetstream(): JetStream {
    const { jetstream } = this.#link;
    if (jetstream === undefined) throw new NatsAwayError('NATS is away');
    return jetstream;
  }
}

/**
 * The header lines of a write (NATS ADR-4): what the stream checks before it stores the message. It stores them too, so
 * the stream is not named: a subject belongs to one stream only.
 */
function conditions(revision: number, removes: boolean): string {
  const operation = removes ? `${OPERATION_HEADER}: DEL\r\n` : '';
  return `NATS/1.0\r\n${EXPECTED_REVISION}: ${decimalText(revision)}\r\n${operation}\r\n`;
}

/**
 * Headers for the client that are encoded already. Its own are made for any name and value, and cost more time and
 * memory than the rest of the message. It calls only `encode` of headers that it sends, which is not in its interface;
 * if that changes, no write succeeds in any test.
 */
function encodedHeaders(lines: string): MsgHdrs {
  return { encode: () => Buffer.from(lines, 'latin1') } as unknown as MsgHdrs;
}

function revisionOf(answer: StreamAnswer): number | undefined {
  if (answer.error === undefined) return answer.seq;
  const { err_code: code, description } = answer.error;
  if (CONFLICT.has(code)) return undefined;
  if (FULL.has(code)) throw new StreamFullError(description);
  throw new JetStreamApiError(answer.error);
}
