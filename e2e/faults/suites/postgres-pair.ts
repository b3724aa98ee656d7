import { startPostgresWorld, type PostgresWorld } from '../harness/postgres-world.ts';
import type { FaultSuite } from '../harness/scenario.ts';
import { primaryKilled, primaryStopped, primaryVanished } from '../scenarios/postgres-failover.ts';

/** Postgres is a primary and a synchronous standby, and the primary fails. */
export const postgresPair: FaultSuite<PostgresWorld> = {
  name: 'Postgres primary and standby',
  open: startPostgresWorld,
  scenarios: [primaryKilled, primaryStopped, primaryVanished],
};
