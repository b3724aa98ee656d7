import type { BodySource, ExchangeFailure } from '../../exchange.ts';
import type { HeaderFields } from '../../fields/header-fields.ts';
import type { BodyBytes } from '../../message/body-bytes.ts';
import { checkTrailers } from './request-fields.ts';

/** Where a body goes. */
interface BodyTarget {
  /** Returns false if it takes no more until `resume` is called. */
  send(bytes: BodyBytes, last: boolean, trailers: HeaderFields | undefined): boolean;
  failed(why: ExchangeFailure): void;
}

/** Sends the body of a request at the pace of its stream, and checks the announced length. */
export class BodyPump {
  readonly #source: BodySource;
  readonly #length: number | undefined;
  readonly #target: BodyTarget;
  #sentBytes = 0;
  #isOver = false;

  /** @param length the announced length, if there is one */
  constructor(source: BodySource, length: number | undefined, target: BodyTarget) {
    this.#source = source;
    this.#length = length;
    this.#target = target;
  }

  start(): void {
    const { ended } = this.#source;
    // It failed before its reader was there.
    if (ended !== undefined && ended !== 'complete') this.#fail('request_body');
    else this.#source.start(this);
  }

  data(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): void {
    if (this.#isOver) return;
    this.#sentBytes += bytes.length;
    const length = this.#length ?? this.#sentBytes;
    if (this.#sentBytes > length || (last && this.#sentBytes < length)) {
      this.#source.discard();
      this.#fail('request_body');
      return;
    }
    const sent = trailers === undefined ? undefined : checkTrailers(trailers);
    if (sent === 'unsendable') {
      this.#fail('unsendable');
      return;
    }
    this.#isOver = last;
    const more = this.#target.send(bytes, last, sent);
    if (!last && !more) this.#source.pause();
  }

  failed(): void {
    if (!this.#isOver) this.#fail('request_body');
  }

  resume(): void {
    if (!this.#isOver) this.#source.resume();
  }

  #fail(why: ExchangeFailure): void {
    this.#isOver = true;
    this.#target.failed(why);
  }

  /** The rest is not wanted. */
  discard(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#source.discard();
  }
}
