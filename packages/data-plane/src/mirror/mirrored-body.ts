import type { BodySink, End } from '@gateway/http/exchange';
import { BodyBuffer } from '@gateway/http/message/body-buffer';
import { toBuffer, type BodyBytes } from '@gateway/http/message/body-bytes';
import type {
  BodyBudget,
  BodyLimits,
  BodyStream,
  RequestBody,
  TakenBody,
} from '../request/request-body.ts';
import type { TrailerContext } from '../request/trailers.ts';

/** Why the body of a request is not copied. */
export type BodyDrop = 'body_too_large' | 'body_memory' | 'body_incomplete';

/** Takes the body of a copy, in parts or at once: one of these is called, once. None throws. */
export interface BodyCopier {
  /** The whole body, which the request keeps itself. */
  kept(bytes: BodyBytes | null): void;
  /** Collects a body that streams. */
  collector(): BodyCollector;
  /** The request has not got its body, so neither of the others is called. */
  unused(): void;
}

/** Collects a copy of a body that streams. Throws nothing. */
export interface BodyCollector {
  add(bytes: BodyBytes, last: boolean): void;
  /** The rest does not arrive, or nobody reads it. Without effect after the last part. */
  abandon(): void;
}

/** The body of a request that is copied: the request reads it as ever, and each part that it reads goes to the copier too. */
export class MirroredBody implements RequestBody {
  readonly #body: RequestBody;
  readonly #copier: BodyCopier;
  #collector: BodyCollector | undefined = undefined;
  #isTaken = false;

  constructor(body: RequestBody, copier: BodyCopier) {
    this.#body = body;
    this.#copier = copier;
  }

  get empty(): boolean {
    return this.#body.empty;
  }

  get receivedBytes(): number {
    return this.#body.receivedBytes;
  }

  get failure(): Error | undefined {
    return this.#body.failure;
  }

  get taken(): boolean {
    return this.#body.taken;
  }

  take(limits: BodyLimits): TakenBody | Promise<TakenBody> {
    const taken = this.#body.take(limits);
    return taken instanceof Promise
      ? taken.then((body) => this.#copied(body))
      : this.#copied(taken);
  }

  #copied(body: TakenBody): TakenBody {
    this.#isTaken = true;
    if (body.kind === 'kept') {
      this.#copier.kept(body.bytes);
      return body;
    }
    const collector = this.#copier.collector();
    this.#collector = collector;
    return { kind: 'stream', stream: new TeedStream(body.stream, collector) };
  }

  release(): void {
    if (this.#isTaken) this.#collector?.abandon();
    else this.#copier.unused();
    this.#body.release();
  }
}

/**
 * Passes a stream to its reader, and each part of it to a collector first: a reader may ask for the next one at once. A
 * copy has no trailers.
 */
class TeedStream implements BodyStream {
  readonly #stream: BodyStream;
  readonly #collector: BodyCollector;

  constructor(stream: BodyStream, collector: BodyCollector) {
    this.#stream = stream;
    this.#collector = collector;
  }

  get ended(): End | undefined {
    return this.#stream.ended;
  }

  get begun(): boolean {
    return this.#stream.begun;
  }

  get budget(): BodyBudget {
    return this.#stream.budget;
  }

  get isRead(): boolean {
    return this.#stream.isRead;
  }

  get failure(): Error | undefined {
    return this.#stream.failure;
  }

  passTrailersFor(request: TrailerContext): void {
    this.#stream.passTrailersFor(request);
  }

  start(sink: BodySink): void {
    const collector = this.#collector;
    this.#stream.start({
      data(bytes, last, trailers) {
        collector.add(bytes, last);
        sink.data(bytes, last, trailers);
      },
      failed(end) {
        collector.abandon();
        sink.failed(end);
      },
    });
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  discard(): void {
    this.#stream.discard();
  }
}

/** The memory for copied bodies. */
export interface CopyMemory {
  /** Returns false if there is not so much left. */
  reserve(bytes: number): boolean;
  release(bytes: number): void;
}

/** Collects a body of at most `maxBytes`. Exactly one of the two functions is called, once; neither throws. */
export class BoundedCollector implements BodyCollector {
  readonly #maxBytes: number;
  readonly #memory: CopyMemory;
  readonly #whole: (bytes: Buffer) => void;
  readonly #dropped: (why: BodyDrop) => void;
  #parts: BodyBuffer | undefined = new BodyBuffer();
  #bytes = 0;

  /** @param whole takes the body and its memory */
  constructor(
    maxBytes: number,
    memory: CopyMemory,
    whole: (bytes: Buffer) => void,
    dropped: (why: BodyDrop) => void,
  ) {
    this.#maxBytes = maxBytes;
    this.#memory = memory;
    this.#whole = whole;
    this.#dropped = dropped;
  }

  add(bytes: BodyBytes, last: boolean): void {
    const parts = this.#parts;
    if (parts === undefined) return;
    if (this.#bytes + bytes.length > this.#maxBytes) this.#drop('body_too_large');
    else if (!this.#memory.reserve(bytes.length)) this.#drop('body_memory');
    else {
      this.#bytes += bytes.length;
      if (bytes.length > 0) parts.add(toBuffer(bytes));
      if (!last) return;
      this.#parts = undefined;
      this.#whole(parts.whole());
    }
  }

  abandon(): void {
    if (this.#parts !== undefined) this.#drop('body_incomplete');
  }

  #drop(why: BodyDrop): void {
    this.#parts = undefined;
    this.#memory.release(this.#bytes);
    this.#dropped(why);
  }
}
