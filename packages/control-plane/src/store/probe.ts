import type { Clock, Timer } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { sql } from 'kysely';
import type { OpenDatabase } from './database.ts';

const EVERY_MS = 1000;

export interface DatabaseProbe {
  /** Whether the last check reached Postgres. */
  isReachable(): boolean;
  stop(): Promise<void>;
}

/**
 * Checks every second whether Postgres can be reached, for /readyz.
 *
 * @param database a pool of its own, which the probe closes: in the queue of a busy pool it would report
 *   Postgres as unreachable
 */
export function startDatabaseProbe(
  database: OpenDatabase,
  clock: Clock,
  log: Logger,
): DatabaseProbe {
  let reachable = true;
  let stopped = false;
  let timer: Timer | undefined;
  let checking = Promise.resolve();

  async function check(): Promise<void> {
    let reason: string | undefined;
    try {
      await sql`SELECT 1`.execute(database.db);
    } catch (error) {
      reason = String(error);
    }
    const found = reason === undefined;
    if (found && !reachable) log.info('Postgres reachable again');
    if (!found && reachable) log.warn({ reason }, 'Postgres unreachable');
    reachable = found;
    if (!stopped) schedule();
  }

  function schedule(): void {
    timer = clock.setTimer(EVERY_MS, () => {
      checking = check();
    });
  }

  schedule();
  return {
    isReachable: () => reachable,
    async stop() {
      stopped = true;
      timer?.cancel();
      await checking;
      await database.close();
    },
  };
}
