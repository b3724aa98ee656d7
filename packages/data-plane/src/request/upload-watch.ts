import type { ConnectionGuard } from '@gateway/http/connection-guard';
import type { Clock, Timer } from '@gateway/shared/clock';
import { UPLOAD_RATE_WINDOW_MS } from '@gateway/shared/definitions/route-times';
import type { GatewayError } from '@gateway/shared/errors/gateway-error';
import { bodyLate } from './body-errors.ts';
import type { BodyLimits } from './request-body.ts';
import type { BodyWatch } from './stream-progress.ts';
import type { TimeAccount } from './time-account.ts';

export interface UploadWatchOptions {
  readonly clock: Clock;
  /** How long a body may be silent if its route does not say. */
  readonly bodyIdleTimeoutMs: number;
}

/** The body that is watched. */
export interface WatchedBody {
  readonly receivedBytes: number;
  readonly times: TimeAccount;
  /** A bound is exceeded. */
  late(error: GatewayError): void;
}

/**
 * Bounds the wait for a request body. All bounds are measured in the time that the account of the request calls
 * `receiving`, in which the clock of `timeout_ms` stands: so whatever time passes, one of them counts it.
 *
 * One timer for the whole body: making one for each chunk costs as much as handling the chunk. There is none while
 * something else than the caller is awaited.
 */
export class UploadWatch implements BodyWatch {
  readonly #body: WatchedBody;
  readonly #limits: BodyLimits;
  readonly #clock: Clock;
  readonly #guard: ConnectionGuard;
  readonly #idleTimeoutMs: number;
  #timer: Timer | undefined = undefined;
  #isOver = false;
  /** In time of `receiving`: when bytes arrived last, and when the measured window began; and the bytes before it. */
  #progressMs = 0;
  #windowMs = 0;
  #windowBytes = 0;

  constructor(
    body: WatchedBody,
    limits: BodyLimits,
    guard: ConnectionGuard,
    { clock, bodyIdleTimeoutMs }: UploadWatchOptions,
  ) {
    this.#body = body;
    this.#limits = limits;
    this.#clock = clock;
    this.#guard = guard;
    this.#idleTimeoutMs = limits.upload.body_idle_timeout_ms ?? bodyIdleTimeoutMs;
  }

  progressed(): void {
    this.#progressMs = this.#receivedMs();
  }

  awaited(): void {
    if (this.#timer === undefined && !this.#isOver) this.#check();
  }

  stop(): void {
    this.#isOver = true;
    this.#timer?.cancel();
  }

  #receivedMs(): number {
    return this.#body.times.receivedUs(this.#clock.monotonicMs()) / 1000;
  }

  #check(): void {
    this.#timer = undefined;
    const receivedMs = this.#receivedMs();
    const { upload, request } = this.#limits;
    const { isReceiving } = this.#body.times;
    const idleLeftMs = this.#progressMs + this.#idleTimeoutMs - receivedMs;
    if (idleLeftMs <= 0) this.#end('body_idle_timeout_ms', this.#idleTimeoutMs);
    else if (request.status !== undefined) {
      // The wait begins again without `awaited` when the caller takes the response again.
      this.#checkAfter(isReceiving ? idleLeftMs : this.#idleTimeoutMs);
    } else if (receivedMs >= upload.max_upload_ms) this.#end('max_upload_ms', upload.max_upload_ms);
    else if (this.#isTooSlow(receivedMs)) {
      this.#end('min_upload_bytes_per_second', upload.min_upload_bytes_per_second);
    } else if (isReceiving) {
      const windowLeftMs = this.#windowMs + UPLOAD_RATE_WINDOW_MS - receivedMs;
      this.#checkAfter(Math.min(idleLeftMs, upload.max_upload_ms - receivedMs, windowLeftMs));
    }
  }

  /** Whether too little arrived in the window. If the window is over, the next one begins. */
  #isTooSlow(receivedMs: number): boolean {
    const lengthMs = receivedMs - this.#windowMs;
    if (lengthMs < UPLOAD_RATE_WINDOW_MS) return false;
    const { receivedBytes } = this.#body;
    const bytes = receivedBytes - this.#windowBytes;
    this.#windowMs = receivedMs;
    this.#windowBytes = receivedBytes;
    const least = this.#limits.upload.min_upload_bytes_per_second;
    return bytes < (least * UPLOAD_RATE_WINDOW_MS) / 1000;
  }

  #end(field: Parameters<typeof bodyLate>[0], value: number): void {
    this.#body.late(bodyLate(field, value));
  }

  #checkAfter(delayMs: number): void {
    this.#timer = this.#clock.setTimer(delayMs, () => {
      this.#guard.run(() => {
        this.#check();
      });
    });
  }
}
