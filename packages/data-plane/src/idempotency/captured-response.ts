import type { Clock, Timer } from '@gateway/shared/clock';
import { toBuffer, type BodyBytes } from '@gateway/http1/message/body-bytes';
import type { BodyBudget } from '../request/request-body.ts';
import type { BodySink, UpstreamResponse, WholeBody } from '../request/upstream-response.ts';

export interface CaptureOptions {
  readonly clock: Clock;
  /** Over all requests of the process. */
  readonly budget: BodyBudget;
  readonly maxBodyBytes: number;
  /** How long the rest of a response is read whose caller has left. */
  readonly unattendedTimeoutMs: number;
  /** All of the response came; without its body where that was too large to be kept. */
  readonly complete: (body: Buffer | undefined) => void;
  /** It broke off, or was given up. */
  readonly broken: () => void;
  /** Bytes that passed and were not kept. */
  readonly dropped: (bytes: number) => void;
}

/**
 * A response on its way to the caller whose body is kept as it passes. Should the caller leave, the
 * rest is read all the same, within bounds, so that what came of the request is known.
 */
export class CapturedResponse implements UpstreamResponse {
  readonly status: number;
  readonly statusText: string;
  readonly fields: readonly string[];
  readonly #upstream: UpstreamResponse;
  readonly #options: CaptureOptions;
  #sink: BodySink | undefined = undefined;
  #kept: BodyBytes[] | undefined = [];
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

  /** What the kept body holds of the budget; to be given back when it is no longer needed. */
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

  /** The caller left: nothing goes to it any more. */
  cancel(): void {
    if (this.#over || this.#unattended !== undefined) return;
    this.#sink = undefined;
    const { clock, unattendedTimeoutMs } = this.#options;
    this.#unattended = clock.setTimer(unattendedTimeoutMs, () => this.#giveUp());
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
      error: (error) => {
        this.#giveUp();
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
    // Nobody is left who wants what is not kept.
    if (this.#kept === undefined) this.#endUnattended();
    return true;
  }

  #keep(chunk: BodyBytes): void {
    const { budget, maxBodyBytes, dropped } = this.#options;
    const fits = this.#keptBytes + chunk.length <= maxBodyBytes;
    if (this.#kept !== undefined && fits && budget.reserve(chunk.length)) {
      this.#kept.push(chunk);
      this.#keptBytes += chunk.length;
      return;
    }
    dropped(this.#keptBytes + chunk.length);
    this.#kept = undefined;
    this.release();
  }

  #endUnattended(): void {
    if (this.#over) return;
    this.#upstream.cancel();
    this.#ended();
  }

  #ended(): void {
    if (!this.#finish()) return;
    const parts = this.#kept?.map(toBuffer);
    this.#options.complete(parts === undefined ? undefined : Buffer.concat(parts));
  }

  #giveUp(): void {
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
