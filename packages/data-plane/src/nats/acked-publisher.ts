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
import { Tickets } from './tickets.ts';

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
  /** Their tickets end the subjects of the answers. */
  readonly #unanswered = new Tickets<Publication>();
  /** Tickets of those that leave at the end of this turn. */
  #unsent: string[] = [];
  #subscribed: NatsConnection | undefined = undefined;
  #inbox = '';

  constructor(link: NatsLink, clock: Clock) {
    this.#link = link;
    this.#clock = clock;
    link.onChange(() => {
      if (link.connection !== undefined) return;
      const error = new NatsAwayError('the connection to NATS was lost');
      for (const publication of this.#unanswered.takeAll()) {
        publication.timer.cancel();
        publication.reject(error);
      }
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
    return new Promise((resolve, reject) => {
      // It throws if the connection is closed.
      if (connection !== this.#subscribed) this.#subscribe(connection);
      const timer = this.#clock.setTimer(timeoutMs, () => {
        this.#settle(ticket)?.reject(new errors.TimeoutError());
      });
      const publication = { subject, payload, headers, resolve, reject, timer };
      const ticket = this.#unanswered.add(publication);
      if (this.#unsent.push(ticket) === 1) setImmediate(() => this.#send());
    });
  }

  #send(): void {
    const tickets = this.#unsent;
    this.#unsent = [];
    for (const ticket of tickets) {
      // Publications that a lost connection has ended are not sent.
      const publication = this.#unanswered.get(ticket);
      if (publication !== undefined) this.#sendOne(ticket, publication);
    }
  }

  #sendOne(ticket: string, { subject, payload, headers }: Publication): void {
    try {
      this.#subscribed?.publish(subject, payload, { reply: this.#inbox + ticket, headers });
    } catch (error) {
      this.#settle(ticket)?.reject(error instanceof Error ? error : new Error(String(error)));
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

  #answered(message: Msg, ticket: string): void {
    const publication = this.#settle(ticket);
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

  #settle(ticket: string): Publication | undefined {
    const publication = this.#unanswered.take(ticket);
    publication?.timer.cancel();
    return publication;
  }
}
