import type { Clock, Timer } from '@gateway/shared/clock';
import { BodyBuffer } from '@gateway/http1/message/body-buffer';
import { toBuffer, type BodyBytes } from '@gateway/http1/message/body-bytes';
import type { BodyBudget } from '../request/request-body.ts';
import type { BodySink, UpstreamResponse, WholeBody } from '../request/upstream-response.ts';

export interface CaptureOptions {
  readonly clock: Clock;
  /** Limits the kept bodies of all requests of the process. */
  readonly budget: BodyBudget;
  readonly maxBodyBytes: number;
  /** How long the rest of a response is read after its caller has left, ms. */
  readonly unattendedTimeoutMs: number;
  /** Called with the whole response, without the body if that was too large to keep. */
  readonly complete: (body: Buffer | undefined) => void;
  /** Called if the response ended early. */
  readonly broken: () => void;
  /** Called with the number of bytes that were not kept. */
  readonly dropped: (bytes: number) => void;
}

/**
 * Passes a response on to the caller and keeps its body. If the caller leaves, the rest is still read within bounds, so
 * that the outcome of the request is known.
 */
export class CapturedResponse implements UpstreamResponse {
  readonly status: number;
  readonly statusText: string;
  readonly fields: readonly string[];
  readonly #upstream: UpstreamResponse;
  readonly #options: CaptureOptions;
  #sink: BodySink | undefined = undefined;
  #kept: BodyBuffer | undefined = new BodyBuffer();
  #keptBytes = 0;
  #attached = false;
  #over = false;
  #unattended: Timer | undefined = undefined;

  constructor(upstream: UpstreamResponse, options: CaptureOptions) {
    this.status = upstream.status;
    this.statusText = upstream.statusText;
    this.fields = upstream.fields;
    this.#upstream = upstream;
    this.#options = options;
  }

  /** Returns the size of the kept body to the budget, when the body is not needed any more. */
  release(): void {
    this.#options.budget.release(this.#keptBytes);
    this.#keptBytes = 0;
  }

  attach(sink: BodySink): WholeBody | undefined {
    this.#sink = sink;
    return this.#attach();
  }

  resume(): void {
    this.#upstream.resume();
  }

  /** The caller has left: nothing more is passed on. */
  cancel(): void {
    if (this.#over || this.#unattended !== undefined) return;
    this.#sink = undefined;
    const { clock, unattendedTimeoutMs } = this.#options;
    this.#unattended = clock.setTimer(unattendedTimeoutMs, () => this.#break());
    if (this.#kept === undefined) this.#endUnattended();
    else if (this.#attached) this.#upstream.resume();
    else this.#attach();
  }

  #attach(): WholeBody | undefined {
    this.#attached = true;
    const whole = this.#upstream.attach({
      data: (chunk) => this.#data(chunk),
      end: () => {
        this.#ended();
        this.#sink?.end();
      },
      stalled: () => this.#sink?.stalled(),
      error: (error) => {
        this.#break();
        this.#sink?.error(error);
      },
    });
    if (whole === undefined) return undefined;
    for (const chunk of whole.chunks) this.#keep(chunk);
    this.#ended();
    return whole;
  }

  #data(chunk: BodyBytes): boolean {
    this.#keep(chunk);
    if (this.#sink !== undefined) return this.#sink.data(chunk);
    // Without a caller, a body that is not kept is not read further.
    if (this.#kept === undefined) this.#endUnattended();
    return true;
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

  #ended(): void {
    if (!this.#finish()) return;
    this.#options.complete(this.#kept?.whole());
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
