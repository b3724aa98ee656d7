import { holdConnections } from '../../load/hold-connections.ts';
import { outcomeOf, type LoadOutcome } from '../../measure/outcome.ts';
import type { Target } from '../../load/wrk.ts';

const EVENT = /^data: ([\d.]+) /gm;

/** Callers of a stream of server-sent events, each of which begins with the time when it was sent, in ms since 1970. */
export interface EventCallers {
  /** How many events have arrived since the last call of `receive`. */
  readonly received: number;
  /** Counts the events that arrive until the promise resolves. A caller whose stream has ended counts as failed. */
  receive(until: Promise<unknown>): Promise<LoadOutcome>;
  readonly close: () => void;
}

/** Resolves when every caller has received the head of its response. @throws if a response is not 200 */
export async function openEventCallers(
  target: Target,
  count: number,
  signal: AbortSignal,
): Promise<EventCallers> {
  let timesUs: number[] = [];
  const held = await holdConnections(target, count, signal, (bytes) => {
    const nowMs = performance.timeOrigin + performance.now();
    for (const [, sentMs] of bytes.toString('latin1').matchAll(EVENT)) {
      timesUs.push((nowMs - Number(sentMs)) * 1000);
    }
  });
  return {
    get received() {
      return timesUs.length;
    },
    async receive(until) {
      timesUs = [];
      const startMs = performance.now();
      await until;
      return outcomeOf(timesUs, held.closed, performance.now() - startMs);
    },
    close: held.close,
  };
}
