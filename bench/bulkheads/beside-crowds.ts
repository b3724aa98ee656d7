import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { nextMessage } from '../lab/next-message.ts';
import type { CrowdReport } from './crowd-process.ts';
import type { Crowds } from './neighbours.ts';

const SETTLE_MS = 3000;

/**
 * Does the work while the crowds call the port, and returns what the callers got.
 *
 * @throws when the signal of the run is aborted
 */
export async function besideCrowds<T>(
  crowds: Crowds,
  port: number,
  signal: AbortSignal,
  work: () => Promise<T>,
) {
  const script = fileURLToPath(new URL('crowd-process.ts', import.meta.url));
  const child = fork(script, [JSON.stringify(crowds.map((crowd) => ({ ...crowd, port })))]);
  const ended = once(child, 'exit');
  const stop = async () => {
    if (child.connected) child.disconnect();
    await ended;
  };
  try {
    // Until the connections are open.
    const openingMs = crowds.reduce((sum, { callers }) => sum + callers, 0) / 4;
    const arrivingMs = Math.max(openingMs, ...crowds.map(({ arrivalMs = 0 }) => arrivalMs));
    await delay(SETTLE_MS + arrivingMs, undefined, { signal });
    const result = await work();
    child.send('report');
    const reports = (await nextMessage(child, signal)) as CrowdReport[];
    await stop();
    await delay(SETTLE_MS, undefined, { signal });
    return { result, reports };
  } finally {
    await stop();
  }
}
