import type { Clock, Timer } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { sql } from 'kysely';
import type { OpenDatabase } from './database.ts';

const EVERY_MS = 1000;

export interface DatabaseProbe {
  /** Why the last check failed; undefined if Postgres can be reached and accepts writes. */
  fault(): string | undefined;
  stop(): Promise<void>;
}

/**
 * Fails on a server that accepts no writes, with an error after which the connection is not used again, and writes nothing.
 */
const CHECK = sql`SELECT FROM environments WHERE false FOR UPDATE`;

/**
 * Checks every second whether Postgres can be reached and accepts writes, for /readyz.
 *
 * @param database a pool of its own, which the probe closes: in the queue of a busy pool it would report
 *   Postgres as unreachable
 */
export function startDatabaseProbe(
  database: OpenDatabase,
  clock: Clock,
  log: Logger,
): DatabaseProbe {
  let fault: string | undefined;
  let stopped = false;
  let timer: Timer | undefined;
  let checking = Promise.resolve();

  async function check(): Promise<void> {
    let reason: string | undefined;
    try {
      await CHECK.execute(database.db);
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
    if (reason === undefined && fault !== undefined) log.info('Postgres reachable again');
    if (reason !== undefined && fault === undefined) log.warn({ reason }, 'Postgres unreachable');
    fault = reason;
    if (!stopped) schedule();
  }

  function schedule(): void {
    timer = clock.setTimer(EVERY_MS, () => {
      checking = check();
    });
  }

  schedule();
  return {
    fault: () => fault,
    async stop() {
      stopped = true;
      timer?.cancel();
      await checking;
      await database.close();
    },
  };
}
