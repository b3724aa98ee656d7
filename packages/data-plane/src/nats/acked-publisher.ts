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
        this.#takeUnanswered(ticket)?.reject(new errors.TimeoutError());
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
      this.#takeUnanswered(ticket)?.reject(
        error instanceof Error ? error : new Error(String(error)),
      );
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
    const publication = this.#takeUnanswered(ticket);
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

  #takeUnanswered(ticket: string): Publication | undefined {
    const publication = this.#unanswered.take(ticket);
    publication?.timer.cancel();
    return publication;
  }
}

interface Slot<T> {
  value: T | undefined;
  /** How often the place was used. */
  uses: number;
}

/**
 * Pending values, each under an id that is never used again.
 *
 * A `Map` would do, but not for many short waits: when V8 makes a new table for it, the old table keeps its values and
 * the new table. Once one table has reached the old generation, everything that ever waited behind it survives until the
 * next full collection, and each young collection copies it.
 */
export class Tickets<T> {
  readonly #slots: Slot<T>[] = [];
  readonly #free: number[] = [];

  /** Keeps the value and returns its ticket. */
  add(value: T): string {
    const at = this.#free.pop() ?? this.#slots.push({ value: undefined, uses: 0 }) - 1;
    const place = this.#slots[at] as Slot<T>;
    place.value = value;
    place.uses += 1;
    return `${at.toString(36)}-${place.uses.toString(36)}`;
  }

  get(ticket: string): T | undefined {
    return this.#slotOf(ticket)?.value;
  }

  /** Removes and returns the value; undefined if it was taken before. */
  take(ticket: string): T | undefined {
    const place = this.#slotOf(ticket);
    const value = place?.value;
    if (place === undefined || value === undefined) return undefined;
    place.value = undefined;
    this.#free.push(Number.parseInt(ticket, 36));
    return value;
  }

  /** Removes and returns all values. */
  takeAll(): T[] {
    const taken: T[] = [];
    for (const [at, place] of this.#slots.entries()) {
      if (place.value === undefined) continue;
      taken.push(place.value);
      place.value = undefined;
      this.#free.push(at);
    }
    return taken;
  }

  #slotOf(ticket: string): Slot<T> | undefined {
    const [at = '', uses = ''] = ticket.split('-');
    const place = this.#slots[Number.parseInt(at, 36)];
    return place?.uses === Number.parseInt(uses, 36) ? place : undefined;
  }
}
