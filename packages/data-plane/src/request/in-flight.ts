import type { RequestContext } from './context.ts';

/** Counts the requests in flight in this process. */
export class InFlight {
  #count = 0;
  #whenIdle: (() => void)[] = [];

  get count(): number {
    return this.#count;
  }

  enter(): void {
    this.#count += 1;
  }

  leave(): void {
    this.#count -= 1;
    if (this.#count > 0) return;
    const waiting = this.#whenIdle;
    this.#whenIdle = [];
    for (const resolve of waiting) resolve();
  }

  /** Resolves once no request is in flight. */
  idle(): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }
}

/**
 * Call it when a request is over, however it ended. What the request holds is given back, and its end is reported,
 * whatever throws.
 */
export function finishRequest(
  ctx: RequestContext,
  inFlight: InFlight,
  finished: (ctx: RequestContext) => void,
): void {
  inFlight.leave();
  try {
    ctx.finish();
  } finally {
    finished(ctx);
  }
}
