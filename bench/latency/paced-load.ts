import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LoadOrder, Measured, Turn } from './load-process.ts';

/** A process that sends requests at a constant rate. */
export interface PacedLoad {
  /** Sends requests for a turn; returns what all counted turns measured. */
  run(turn: Turn): Promise<Measured>;
  readonly stop: () => Promise<void>;
}

export async function startPacedLoad({ url, authorization }: LoadOrder): Promise<PacedLoad> {
  const script = fileURLToPath(new URL('load-process.ts', import.meta.url));
  const child = fork(script, [JSON.stringify({ url, authorization })]);
  await once(child, 'message');
  return {
    async run(turn) {
      const ended = once(child, 'message');
      child.send(turn);
      const [measured] = (await ended) as [Measured];
      return measured;
    },
    stop() {
      child.disconnect();
      return Promise.resolve();
    },
  };
}
