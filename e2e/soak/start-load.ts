import type { CallerEnvironment, Kind } from './call-kinds.ts';

export interface Load {
  /** Calls that were skipped because too many of their kind were in flight. */
  readonly skippedCalls: number;
  /** Starts no further calls, and resolves when all have ended. */
  stop(): Promise<void>;
}

const TICK_MS = 10;
/** Limit of calls of one kind in flight. */
const MAX_IN_FLIGHT_OF_KIND = 100;

/** Makes calls at a steady rate, each kind with its share, however long calls take. */
export function startLoad(
  kinds: readonly Kind[],
  environment: CallerEnvironment,
  callsPerSecond: number,
): Load {
  const weights = kinds.reduce((sum, { weight }) => sum + weight, 0);
  const streams = kinds.map((kind) => {
    return { kind, perSecond: (callsPerSecond * kind.weight) / weights, begun: 0, inFlight: 0 };
  });
  const running = new Set<Promise<void>>();
  const startedMs = performance.now();
  let skippedCalls = 0;

  const timer = setInterval(() => {
    const seconds = (performance.now() - startedMs) / 1000;
    for (const stream of streams) {
      for (; stream.begun < seconds * stream.perSecond; stream.begun += 1) {
        if (stream.inFlight >= MAX_IN_FLIGHT_OF_KIND) {
          skippedCalls += 1;
          continue;
        }
        stream.inFlight += 1;
        const call = stream.kind.run(environment, stream.begun).finally(() => {
          stream.inFlight -= 1;
          running.delete(call);
        });
        running.add(call);
      }
    }
  }, TICK_MS);

  return {
    get skippedCalls() {
      return skippedCalls;
    },
    async stop() {
      clearInterval(timer);
      await Promise.all(running);
    },
  };
}
