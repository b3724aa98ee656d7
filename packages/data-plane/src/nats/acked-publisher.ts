import type { Clock, Timer } from '@gateway/shared/clock';
import type { ApiError } from '@nats-io/jetstream';
import {
  createInbox,
  errors,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
} from '@nats-io/nats-core';
import type { NatsLink } from './nats-link.ts';

/** There is no connection to NATS, or it was lost during the call. */
export class NatsAwayError extends Error {
  override readonly name = 'NatsAwayError';
}

/** What a stream answers to a message (NATS ADR-1, `PubAck`). */
export type StreamAnswer =
  | { readonly seq: number; readonly error?: undefined }
  | { readonly error: ApiError };

interface Publication {
  readonly subject: string;
  readonly payload: Uint8Array | string | undefined;
  readonly headers: MsgHdrs;
  readonly resolve: (answer: StreamAnswer) => void;
  readonly reject: (error: Error) => void;
  readonly timer: Timer;
}

const NO_RESPONDERS = 503;

/**
 * Publishes messages to streams and awaits their answers, over one inbox. The client's own `request` captures a stack
 * trace for every answer; without it a request with an idempotency key, which writes twice, costs about a sixth less.
 *
 * Messages leave at the end of the turn of the event loop, together: the client writes to its socket after each
 * callback, and a write for each message costs more than the message.
 */
export class AckedPublisher {
  readonly #link: NatsLink;
  readonly #clock: Clock;
  /** By the last token of the subject of the answer; those of `#unsent` are among them. */
  readonly #unanswered = new Map<string, Publication>();
  #unsent: string[] = [];
  #subscribed: NatsConnection | undefined = undefined;
  #inbox = '';
  #published = 0;

  constructor(link: NatsLink, clock: Clock) {
    this.#link = link;
    this.#clock = clock;
    link.onChange(() => {
      if (link.connection !== undefined) return;
      const error = new NatsAwayError('the connection to NATS was lost');
      for (const token of this.#unanswered.keys()) this.#settle(token)?.reject(error);
    });
  }

  /**
   * @returns the answer of the stream, which may be a refusal
   * @throws NatsAwayError, or the client's TimeoutError, after which the message may be stored or may yet be; the
   *   client's NoRespondersError if no stream has the subject
   */
  publish(
    subject: string,
    payload: Uint8Array | string | undefined,
    headers: MsgHdrs,
    timeoutMs: number,
  ): Promise<StreamAnswer> {
    const { connection } = this.#link;
    if (connection === undefined) return Promise.reject(new NatsAwayError('NATS is away'));
    if (connection !== this.#subscribed) this.#subscribe(connection);
    this.#published += 1;
    const token = this.#published.toString(36);
    return new Promise((resolve, reject) => {
      const timer = this.#clock.setTimer(timeoutMs, () => {
        this.#settle(token)?.reject(new errors.TimeoutError());
      });
      this.#unanswered.set(token, { subject, payload, headers, resolve, reject, timer });
      if (this.#unsent.push(token) === 1) setImmediate(() => this.#send());
    });
  }

  #send(): void {
    const tokens = this.#unsent;
    this.#unsent = [];
    for (const token of tokens) {
      // Publications that a lost connection has ended are not sent.
      const publication = this.#unanswered.get(token);
      if (publication !== undefined) this.#sendOne(token, publication);
    }
  }

  #sendOne(token: string, { subject, payload, headers }: Publication): void {
    try {
      this.#subscribed?.publish(subject, payload, { reply: this.#inbox + token, headers });
    } catch (error) {
      this.#settle(token)?.reject(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** The client renews the subscription after each reconnect. */
  #subscribe(connection: NatsConnection): void {
    const inbox = `${createInbox()}.`;
    const callback = (error: Error | null, message: Msg) => {
      // The connection logs its errors; a publication without an answer times out.
      if (error === null) this.#answered(message, message.subject.slice(inbox.length));
    };
    connection.subscribe(`${inbox}*`, { callback });
    this.#inbox = inbox;
    this.#subscribed = connection;
  }

  #answered(message: Msg, token: string): void {
    const publication = this.#settle(token);
    if (publication === undefined) return;
    if (message.data.length === 0 && message.headers?.code === NO_RESPONDERS) {
      publication.reject(new errors.NoRespondersError(message.subject));
      return;
    }
    try {
      publication.resolve(message.json<StreamAnswer>());
    } catch (cause) {
      publication.reject(new Error('the answer of the stream is not JSON', { cause }));
    }
  }

  #settle(token: string): Publication | undefined {
    const publication = this.#unanswered.get(token);
    this.#unanswered.delete(token);
    publication?.timer.cancel();
    return publication;
  }
}
