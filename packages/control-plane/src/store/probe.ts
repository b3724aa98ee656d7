import type { Clock, Timer } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { sql } from 'kysely';
import type { Database } from './database.ts';

const EVERY_MS = 1000;

export interface DatabaseProbe {
  /** Whether the last look found Postgres. */
  isReachable(): boolean;
  stop(): Promise<void>;
}

/** Looks for Postgres every second, for /readyz; each look ends within the pool's own deadlines. */
export function startDatabaseProbe(db: Database, clock: Clock, log: Logger): DatabaseProbe {
  let reachable = true;
  let stopped = false;
  let timer: Timer | undefined;
  let looking = Promise.resolve();

  async function look(): Promise<void> {
    let reason: string | undefined;
    try {
      await sql`SELECT 1`.execute(db);
    } catch (error) {
      reason = String(error);
    }
    const found = reason === undefined;
    if (found && !reachable) log.info('Postgres can be reached again');
    if (!found && reachable) log.warn({ reason }, 'Postgres cannot be reached');
    reachable = found;
    if (!stopped) schedule();
  }

  function schedule(): void {
    timer = clock.setTimer(EVERY_MS, () => {
      looking = look();
    });
  }

  schedule();
  return {
    isReachable: () => reachable,
    stop() {
      stopped = true;
      timer?.cancel();
      return looking;
    },
  };
}
