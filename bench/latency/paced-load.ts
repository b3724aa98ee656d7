import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { nextMessage } from '../lab/next-message.ts';
import type { LoadOrder, Measured, Turn } from './load-process.ts';

/** A process that sends requests at a constant rate. */
export interface PacedLoad {
  /** Sends requests for a turn; returns what all counted turns measured. */
  run(turn: Turn): Promise<Measured>;
  readonly stop: () => Promise<void>;
}

/** Its calls reject when the signal is aborted, and when the process ends. */
export async function startPacedLoad(
  { url, authorization }: LoadOrder,
  signal: AbortSignal,
): Promise<PacedLoad> {
  const script = fileURLToPath(new URL('load-process.ts', import.meta.url));
  const child = fork(script, [JSON.stringify({ url, authorization })]);
  const stop = () => {
    if (child.connected) child.disconnect();
    return Promise.resolve();
  };
  try {
    await nextMessage(child, signal);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    async run(turn) {
      const measured = nextMessage(child, signal);
      child.send(turn);
      return (await measured) as Measured;
    },
    stop,
  };
}
