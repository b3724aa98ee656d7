import type { Clock } from '@gateway/shared/clock';
import type { CompiledRoute } from '../routing-table/routing-table.ts';

/** What tells whether a request is a stream. */
export interface StreamContext {
  readonly route: CompiledRoute | undefined;
  /** Whether it switches to another protocol. */
  readonly leavesHttp: boolean;
}

/** Whether the request and its response are a stream that may last. A tunnel is none: it has bounds of its own. */
export function isStream({ route, leavesHttp }: StreamContext): boolean {
  return route?.settings.streaming === true && !leavesHttp;
}

/** What watches the body of a request while it arrives. */
export interface BodyWatch {
  /** Bytes have arrived. */
  progressed(): void;
  /** The gateway waits for the caller, again or for the first time. */
  awaited(): void;
  stop(): void;
}

/**
 * When something of an exchange went on last, in either direction. A stream that lasts is bounded by that alone: its
 * caller may be silent for as long as its upstream is not, and the other way round.
 */
export class StreamProgress implements BodyWatch {
  /** Milliseconds of the monotonic clock. */
  atMs: number;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.atMs = clock.monotonicMs();
  }

  progressed(): void {
    this.atMs = this.#clock.monotonicMs();
  }

  awaited(): void {
    return undefined;
  }

  /** The end of a body is progress too. */
  stop(): void {
    this.progressed();
  }
}
