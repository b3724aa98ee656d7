import type { Done } from './callers.ts';

/** Requests at a constant rate. */
export interface Turn {
  readonly perSecond: number;
  /** Requests of this time at the beginning do not count. */
  readonly warmUpSeconds: number;
  readonly seconds: number;
}

export interface TurnOptions extends Turn {
  readonly startMs: number;
  /** Requests are due in groups, one group for each tick. */
  readonly tickMs: number;
  /** Called for each request that counts, with its outcome and the time since it was due. */
  readonly ended: (outcome: string, latencyMs: number) => void;
}

/**
 * Begins a turn. The latency of a request is counted from the time at which it was due, whether or not the process, a
 * connection or the proxy was free then: a stall counts for every request that would have been sent during it.
 */
export function beginTurn(
  { perSecond, warmUpSeconds, seconds, startMs, tickMs, ended }: TurnOptions,
  send: (done: Done) => void,
  nowMs: () => number,
) {
  const total = Math.round(perSecond * (warmUpSeconds + seconds));
  const all = Promise.withResolvers<undefined>();
  let sent = 0;
  let done = 0;
  let counted = 0;
  let hasEnded = false;
  return {
    /** Resolves when every request of the turn has ended. */
    allEnded: all.promise,
    /** Sends what is due. */
    tick(): void {
      for (const atMs = nowMs(); sent < total;) {
        const dueMs = startMs + Math.ceil((sent * 1000) / perSecond / tickMs) * tickMs;
        if (dueMs > atMs) return;
        const counts = sent >= perSecond * warmUpSeconds;
        sent += 1;
        send((outcome) => {
          if (hasEnded) return;
          if (counts) {
            counted += 1;
            ended(outcome, nowMs() - dueMs);
          }
          done += 1;
          if (done === total) all.resolve(undefined);
        });
      }
    },
    /** Returns how many requests that count have not ended; what comes later does not count. */
    end(): number {
      hasEnded = true;
      return Math.round(perSecond * seconds) - counted;
    },
  };
}
