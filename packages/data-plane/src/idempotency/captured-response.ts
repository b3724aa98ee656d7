import type { Clock, Timer } from '@gateway/shared/clock';
import type { HeaderFields } from '@gateway/http/fields/header-fields';
import { BodyBuffer } from '@gateway/http/message/body-buffer';
import { toBuffer, type BodyBytes } from '@gateway/http/message/body-bytes';
import type { BodyBudget } from '../request/request-body.ts';
import type { Capture } from '../request/context.ts';
import type { BreakReason, ResponseSink, UpstreamResponse } from '../request/upstream-response.ts';

export interface CaptureOptions {
  readonly clock: Clock;
  /** Limits the kept bodies of all requests of the process. */
  readonly budget: BodyBudget;
  readonly maxBodyBytes: number;
  /** How long the rest of a response is read after its caller has left, ms. */
  readonly unattendedTimeoutMs: number;
  /** Called with the whole response, without the body if that was too large to keep, and with its trailers, if any. */
  readonly complete: (body: Buffer | undefined, trailers: HeaderFields | undefined) => void;
  /** Called if the response ended early. */
  readonly broken: () => void;
  /** Called with the number of bytes that were not kept. */
  readonly dropped: (bytes: number) => void;
}

/**
 * Passes the body of a response on to the caller and keeps it. If the caller leaves, the rest is still read within bounds,
 * so that the outcome of the request is known.
 */
export class CapturedResponse implements Capture {
  readonly #upstream: UpstreamResponse;
  readonly #options: CaptureOptions;
  #sink: ResponseSink | undefined;
  #kept: BodyBuffer | undefined = new BodyBuffer();
  #keptBytes = 0;
  #over = false;
  #unattended: Timer | undefined = undefined;

  constructor(upstream: UpstreamResponse, sink: ResponseSink, options: CaptureOptions) {
    this.#upstream = upstream;
    this.#sink = sink;
    this.#options = options;
  }

  /** Returns the size of the kept body to the budget, when the body is not needed any more. */
  release(): void {
    this.#options.budget.release(this.#keptBytes);
    this.#keptBytes = 0;
  }

  /** The caller has left: nothing more is passed on. */
  cancel(): void {
    if (this.#over || this.#unattended !== undefined) return;
    this.#sink = undefined;
    const { clock, unattendedTimeoutMs } = this.#options;
    this.#unattended = clock.setTimer(unattendedTimeoutMs, () => this.#break());
    if (this.#kept === undefined) this.#endUnattended();
    else this.#upstream.resume();
  }

  data(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): void {
    if (bytes.length > 0) this.#keep(bytes);
    if (last) this.#ended(trailers);
    if (this.#sink !== undefined) this.#sink.data(bytes, last, trailers);
    // Without a caller, a body that is not kept is not read further.
    else if (this.#kept === undefined) this.#endUnattended();
  }

  delivered(): void {
    this.#sink?.delivered();
  }

  stalled(): void {
    this.#sink?.stalled();
  }

  broken(why: BreakReason): void {
    this.#break();
    this.#sink?.broken(why);
  }

  #keep(chunk: BodyBytes): void {
    const { budget, maxBodyBytes, dropped } = this.#options;
    const fits = this.#keptBytes + chunk.length <= maxBodyBytes;
    if (this.#kept !== undefined && fits && budget.reserve(chunk.length)) {
      this.#kept.add(toBuffer(chunk));
      this.#keptBytes += chunk.length;
      return;
    }
    dropped(this.#keptBytes + chunk.length);
    this.#kept = undefined;
    this.release();
  }

  /** Ends a response without a caller whose body is not kept; its status and fields are known. */
  #endUnattended(): void {
    if (this.#over) return;
    this.#upstream.cancel();
    this.#ended();
  }

  #ended(trailers?: HeaderFields): void {
    if (!this.#finish()) return;
    this.#options.complete(this.#kept?.whole(), trailers);
  }

  #break(): void {
    if (!this.#finish()) return;
    this.#upstream.cancel();
    this.release();
    this.#options.broken();
  }

  #finish(): boolean {
    if (this.#over) return false;
    this.#over = true;
    this.#unattended?.cancel();
    return true;
  }
}
