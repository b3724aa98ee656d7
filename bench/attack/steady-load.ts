import { Agent, request } from 'node:http';

export interface SteadyResult {
  readonly calls: number;
  /** Answers other than 200, and calls without one. */
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const TICK_MS = 2;
/** A call that has no answer by then has none. */
const MAX_CALL_MS = 5_000;

/**
 * Sends GETs at a steady rate, whatever comes of them. A time counts from when the call was due, so
 * that a gateway that stands still is not spared the calls that it held up.
 */
export async function steadyLoad(options: {
  readonly url: string;
  readonly token: string;
  readonly perSecond: number;
  readonly seconds: number;
}): Promise<SteadyResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const headers = { authorization: `Bearer ${options.token}` };
  const timesMs: number[] = [];
  let failed = 0;
  const call = (dueMs: number) =>
    new Promise<void>((resolve) => {
      const sent = request(options.url, { agent, headers }, (response) => {
        response.resume().once('close', () => {
          timesMs.push(performance.now() - dueMs);
          if (response.statusCode !== 200) failed += 1;
          resolve();
        });
      });
      const timer = setTimeout(() => sent.destroy(new Error('no answer')), MAX_CALL_MS);
      sent.once('close', () => clearTimeout(timer));
      sent.once('error', () => {
        failed += 1;
        resolve();
      });
      sent.end();
    });

  const startMs = performance.now();
  const calls = options.perSecond * options.seconds;
  const running: Promise<void>[] = [];
  await new Promise<void>((resolve) => {
    const ticking = setInterval(() => {
      const elapsedMs = performance.now() - startMs;
      while (running.length < calls) {
        const dueAfterMs = (running.length / options.perSecond) * 1000;
        if (dueAfterMs > elapsedMs) return;
        running.push(call(startMs + dueAfterMs));
      }
      clearInterval(ticking);
      resolve();
    }, TICK_MS);
  });
  await Promise.all(running);
  agent.destroy();
  const sorted = timesMs.toSorted((a, b) => a - b);
  const at = (rank: number) => sorted[Math.ceil(rank * sorted.length) - 1] ?? Number.NaN;
  return { calls, failed, p50Ms: at(0.5), p99Ms: at(0.99) };
}
