import type { BodySink, BodySource, End } from '@gateway/http/exchange';
import type { HeaderFields } from '@gateway/http/fields/header-fields';
import type { BodyBytes } from '@gateway/http/message/body-bytes';

const NOTHING = Buffer.alloc(0);

/** What it reads, with the memory for what is kept. */
interface KeptStream extends BodySource {
  readonly budget: {
    /** Returns false, and takes nothing, if less is left. */
    reserve(bytes: number): boolean;
    release(bytes: number): void;
  };
}

/**
 * A body that streams to one attempt after the other. What it has passed on is kept, up to a bound, so that the next attempt
 * gets that first and then the rest. Between two attempts the caller's body is paused.
 *
 * Each attempt reads it through a source of its own, because a connection that has ended may discard its body when the next
 * attempt already reads it.
 */
export class ResendableBody implements BodySink {
  readonly maxBytes: number;
  readonly #stream: KeptStream;
  #isKept = true;
  /** What is kept is its beginning. All of it is taken from the memory for bodies, because a stream may wait for long. */
  #memory = NOTHING;
  #keptBytes = 0;
  /** Whether the first attempt has begun to read it. */
  #hasBegun = false;
  /** Whether all of it was passed on, and the fields after it. */
  #isWhole = false;
  #trailers: HeaderFields | undefined = undefined;
  #reader: AttemptBody | undefined = undefined;

  /** @param maxBytes once more than this was passed on, it cannot be sent again */
  constructor(stream: KeptStream, maxBytes: number) {
    this.#stream = stream;
    this.maxBytes = maxBytes;
  }

  /** Whether another attempt can send it. */
  get canBeSent(): boolean {
    const { ended } = this;
    return this.#isKept && (ended === undefined || ended === 'complete');
  }

  get ended(): End | undefined {
    return this.#stream.ended;
  }

  /** The body for one attempt. */
  forAttempt(): BodySource {
    return new AttemptBody(this);
  }

  /** The attempt that reads it has ended, and the next one begins later. */
  detach(): void {
    this.#reader = undefined;
    if (this.#hasBegun) this.#stream.pause();
  }

  /** No further attempt may follow: gives back the memory. Without effect if it was called before. */
  keepNoMore(): void {
    if (!this.#isKept) return;
    this.#isKept = false;
    this.#stream.budget.release(this.#memory.length);
    this.#memory = NOTHING;
    // The last attempt has discarded it.
    if (this.#hasBegun && this.#reader === undefined) this.#stream.discard();
  }

  /** An attempt begins to read it. */
  begin(reader: AttemptBody): void {
    this.#reader = reader;
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      this.#stream.start(this);
      return;
    }
    if (!this.#isKept) {
      reader.sink?.failed('cut_short');
      return;
    }
    const kept = this.#memory.subarray(0, this.#keptBytes);
    if (kept.length > 0 || this.#isWhole) reader.sink?.data(kept, this.#isWhole, this.#trailers);
    // A reader that has paused it resumes it.
    if (reader === this.#reader && !reader.isPaused) this.#stream.resume();
  }

  /** The reader takes no more. */
  pause(reader: AttemptBody): void {
    if (reader === this.#reader) this.#stream.pause();
  }

  resume(reader: AttemptBody): void {
    if (reader === this.#reader) this.#stream.resume();
  }

  /** A reader wants nothing more of it; another attempt may. */
  discard(reader: AttemptBody): void {
    if (reader !== this.#reader) return;
    if (this.#isKept) this.detach();
    else this.#stream.discard();
  }

  data(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): void {
    this.#keep(bytes);
    if (last) {
      this.#isWhole = true;
      this.#trailers = trailers;
    }
    this.#reader?.sink?.data(bytes, last, trailers);
  }

  failed(end: End): void {
    this.#reader?.sink?.failed(end);
  }

  #keep(bytes: BodyBytes): void {
    if (!this.#isKept || bytes.length === 0) return;
    const length = this.#keptBytes + bytes.length;
    if (!this.#hasRoom(length)) {
      this.keepNoMore();
      return;
    }
    if (typeof bytes === 'string') this.#memory.write(bytes, this.#keptBytes, 'latin1');
    else bytes.copy(this.#memory, this.#keptBytes);
    this.#keptBytes = length;
  }

  /** Makes room for so many bytes. Most bodies have one part, so the first one gets no more than it needs. */
  #hasRoom(length: number): boolean {
    const memory = this.#memory;
    if (length <= memory.length) return true;
    if (length > this.maxBytes) return false;
    const size = Math.min(Math.max(length, 2 * memory.length), this.maxBytes);
    if (!this.#stream.budget.reserve(size - memory.length)) return false;
    // What an attempt still sends stays in the memory before. Not from the pool of Node, as in `toStayValid`.
    this.#memory = Buffer.allocUnsafeSlow(size);
    memory.copy(this.#memory, 0, 0, this.#keptBytes);
    return true;
  }
}

/** The body as one attempt reads it. Once another attempt reads it, all calls do nothing. */
class AttemptBody implements BodySource {
  sink: BodySink | undefined = undefined;
  isPaused = false;
  readonly #body: ResendableBody;

  constructor(body: ResendableBody) {
    this.#body = body;
  }

  get ended(): End | undefined {
    return this.#body.ended;
  }

  start(sink: BodySink): void {
    this.sink = sink;
    this.#body.begin(this);
  }

  pause(): void {
    this.isPaused = true;
    this.#body.pause(this);
  }

  resume(): void {
    this.isPaused = false;
    this.#body.resume(this);
  }

  discard(): void {
    this.#body.discard(this);
  }
}
