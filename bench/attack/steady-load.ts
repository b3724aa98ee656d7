import { Agent, request } from 'node:http';
import { percentile } from '../measure/statistics.ts';

export interface SteadyResult {
  readonly calls: number;
  /** Responses other than 200, and calls without a response. */
  readonly failed: number;
  /** How many of them by their status and error code, or by the error of the connection. */
  readonly failures: Readonly<Record<string, number>>;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const TICK_MS = 2;
/** A call without a response after this time has failed. */
const MAX_CALL_MS = 5_000;

/**
 * Sends GETs at a steady rate, whatever their outcome. Each duration counts from when the call was due, so that the
 * delay of calls that a stalled gateway held up counts too.
 *
 * @throws the reason of the signal when it is aborted
 */
export async function steadyLoad(options: {
  readonly url: string;
  readonly token: string;
  readonly perSecond: number;
  readonly seconds: number;
  readonly signal: AbortSignal;
}): Promise<SteadyResult> {
  const { signal } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const headers = { authorization: `Bearer ${options.token}` };
  const timesMs: number[] = [];
  let failed = 0;
  const failures: Record<string, number> = {};
  const fail = (reason: string) => {
    failed += 1;
    failures[reason] = (failures[reason] ?? 0) + 1;
  };
  const call = (dueMs: number) =>
    new Promise<void>((resolve) => {
      const sent = request(options.url, { agent, headers }, (response) => {
        response.resume().once('close', () => {
          timesMs.push(performance.now() - dueMs);
          if (response.statusCode !== 200) {
            fail(`${response.statusCode} ${String(response.headers['x-gateway-error'])}`);
          }
          resolve();
        });
      });
      const timer = setTimeout(() => sent.destroy(new Error('no response in time')), MAX_CALL_MS);
      sent.once('close', () => clearTimeout(timer));
      sent.once('error', (error) => {
        fail(error.message);
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
      while (running.length < calls && !signal.aborted) {
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
  signal.throwIfAborted();
  return {
    calls,
    failed,
    failures,
    p50Ms: percentile(timesMs, 0.5),
    p99Ms: percentile(timesMs, 0.99),
  };
}
