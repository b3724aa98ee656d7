import { Agent, request } from 'node:http';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';

/** One request of the load. */
interface SteadyAnswer {
  /** On the monotonic clock of this process. */
  readonly sentAtMs: number;
  /** 0 if there was no response. */
  readonly status: number;
  readonly requestId: string;
  readonly upstreamName: string;
}

export interface SteadyLoad {
  /** In the order in which they ended. */
  readonly answers: readonly SteadyAnswer[];
  /** Sends no further requests, and resolves when all have ended. */
  stop(): Promise<void>;
}

const TICK_MS = 10;

/**
 * Sends GETs at a steady rate, regardless of their results, for at most `maxSeconds`. If the
 * machine was too busy to send a request in time, it is skipped: a burst would be a different load.
 */
export function startSteadyLoad(options: {
  readonly url: string;
  readonly token: string;
  readonly perSecond: number;
  readonly maxSeconds: number;
}): SteadyLoad {
  const agent = new Agent({ keepAlive: true });
  const answers: SteadyAnswer[] = [];
  const running = new Set<Promise<void>>();
  const startedMs = performance.now();
  let begun = 0;

  async function call(): Promise<void> {
    const sentAtMs = performance.now();
    const outgoing = request(options.url, {
      agent,
      headers: { authorization: `Bearer ${options.token}` },
    });
    try {
      outgoing.end();
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
      response.resume();
      await once(response, 'end');
      const header = (name: string) => String(response.headers[name] ?? '');
      answers.push({
        sentAtMs,
        status: response.statusCode ?? 0,
        requestId: header('x-request-id'),
        upstreamName: header('x-upstream-name'),
      });
    } catch {
      // Counts as a failure of the caller.
      answers.push({ sentAtMs, status: 0, requestId: '', upstreamName: '' });
    }
  }

  const perTick = Math.ceil((options.perSecond * TICK_MS) / 1000);
  const ticking = setInterval(() => {
    const elapsedMs = performance.now() - startedMs;
    if (elapsedMs > options.maxSeconds * 1000) clearInterval(ticking);
    const due = (elapsedMs / 1000) * options.perSecond;
    for (begun = Math.max(begun, Math.floor(due) - perTick); begun < due; begun += 1) {
      const one = call().finally(() => running.delete(one));
      running.add(one);
    }
  }, TICK_MS);

  return {
    answers,
    async stop() {
      clearInterval(ticking);
      await Promise.all(running);
      agent.destroy();
    },
  };
}
