import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { nextMessage } from '../lab/next-message.ts';
import type { CrowdReport } from './crowd-process.ts';
import type { Crowds } from './neighbours.ts';

const SETTLE_MS = 3000;

/** Does the work while the crowds call the port, and returns what the callers got. */
export async function besideCrowds<T>(crowds: Crowds, port: number, work: () => Promise<T>) {
  const script = fileURLToPath(new URL('crowd-process.ts', import.meta.url));
  const child = fork(script, [JSON.stringify(crowds.map((crowd) => ({ ...crowd, port })))]);
  const ended = once(child, 'exit');
  try {
    // Until the connections are open.
    const openingMs = crowds.reduce((sum, { callers }) => sum + callers, 0) / 4;
    await delay(SETTLE_MS + Math.max(openingMs, ...crowds.map(({ arrivalMs = 0 }) => arrivalMs)));
    const result = await work();
    child.send('report');
    const reports = (await nextMessage(child)) as CrowdReport[];
    return { result, reports };
  } finally {
    if (child.connected) child.disconnect();
    await ended;
    await delay(SETTLE_MS);
  }
}
