import type { Run } from '../../lab/run.ts';
import { startScript } from '../../lab/script.ts';
import type { CountedTurn, LoadOrder, Measured } from './load-process.ts';

/** A process that sends requests at a constant rate. */
export interface PacedLoad {
  readonly pid: number;
  /** Sends requests for a turn, without a warm-up by default. */
  run(turn: Partial<CountedTurn> & Pick<CountedTurn, 'perSecond' | 'seconds'>): Promise<Measured>;
}

/** Its calls reject when the run is aborted, and when the process ends. */
export async function startPacedLoad(
  run: Run,
  order: Pick<LoadOrder, 'urls' | 'authorization'> & Partial<LoadOrder>,
): Promise<PacedLoad> {
  const file = new URL('load-process.ts', import.meta.url);
  const script = startScript(run, file, { maxConnections: 256, tickMs: 2, ...order });
  await script.nextMessage();
  return {
    pid: script.pid,
    run: async (turn) => (await script.ask({ warmUpSeconds: 0, adds: false, ...turn })) as Measured,
  };
}
