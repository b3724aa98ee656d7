import { Agent, request } from 'node:http';
import { percentile } from '../measure/statistics.ts';

export interface OpenLoad {
  /** Of the route at each data plane; they take turns. */
  readonly urls: readonly string[];
  readonly token: string;
  readonly perSecond: number;
  /** Not measured, until the gateway has found its limit. */
  readonly warmUpSeconds: number;
  readonly seconds: number;
  /** Callers leave after this time. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

export interface OpenLoadResult {
  readonly goodPerSecond: number;
  readonly refusedPerSecond: number;
  /** Callers that left at their deadline. */
  readonly leftPerSecond: number;
  /** Other responses than 200 and 503, and broken connections. */
  readonly failedPerSecond: number;
  /** Of responses with status 200. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

type Outcome = 'good' | 'refused' | 'left' | 'failed';

const TICK_MS = 2;

/**
 * Sends requests at a steady rate whatever becomes of them, as many independent callers do.
 *
 * @throws the reason of the signal when it is aborted
 */
export async function openLoad(load: OpenLoad): Promise<OpenLoadResult> {
  const agent = new Agent({ keepAlive: true });
  const counts: Record<Outcome, number> = { good: 0, refused: 0, left: 0, failed: 0 };
  const timesMs: number[] = [];
  const total = (load.warmUpSeconds + load.seconds) * load.perSecond;
  const warmUp = load.warmUpSeconds * load.perSecond;
  const startMs = performance.now();
  const calls: Promise<void>[] = [];
  const call = async (index: number) => {
    const sentMs = performance.now();
    const url = load.urls[index % load.urls.length] ?? '';
    const outcome = await send(url, load, agent);
    if (index < warmUp) return;
    counts[outcome] += 1;
    if (outcome === 'good') timesMs.push(performance.now() - sentMs);
  };
  await new Promise<void>((resolve) => {
    const ticking = setInterval(() => {
      const due = Math.min(total, ((performance.now() - startMs) / 1000) * load.perSecond);
      while (calls.length < due && !load.signal.aborted) calls.push(call(calls.length));
      if (calls.length < total && !load.signal.aborted) return;
      clearInterval(ticking);
      resolve();
    }, TICK_MS);
  });
  await Promise.all(calls);
  agent.destroy();
  load.signal.throwIfAborted();
  return {
    goodPerSecond: counts.good / load.seconds,
    refusedPerSecond: counts.refused / load.seconds,
    leftPerSecond: counts.left / load.seconds,
    failedPerSecond: counts.failed / load.seconds,
    p50Ms: percentile(timesMs, 0.5),
    p99Ms: percentile(timesMs, 0.99),
  };
}

function send(url: string, { token, deadlineMs }: OpenLoad, agent: Agent): Promise<Outcome> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}` };
    const sent = request(url, { agent, headers }, (response) => {
      const { statusCode } = response;
      response.resume().once('end', () => {
        clearTimeout(timer);
        resolve(statusCode === 200 ? 'good' : statusCode === 503 ? 'refused' : 'failed');
      });
      response.once('error', () => resolve('failed'));
    });
    const timer = setTimeout(() => {
      resolve('left');
      sent.destroy();
    }, deadlineMs);
    sent.once('error', () => {
      clearTimeout(timer);
      resolve('failed');
    });
    sent.end();
  });
}
