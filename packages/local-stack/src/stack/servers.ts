import path from 'node:path';
import { startNats } from '../nats.ts';
import { startPostgres } from '../postgres.ts';
import { ensureDatabase } from '../postgres/ensure-database.ts';
import type { Server } from '../server.ts';
import type { StackConfig } from './config.ts';
import type { Supervisor } from './supervisor.ts';

const databaseName = 'gateway';

export interface ServerUrls {
  readonly databaseUrl: string;
  readonly natsUrl: string;
}

export interface ServerSteps {
  readonly supervisor: Supervisor;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Brings up Postgres and NATS side by side; one that the operator has already, by DATABASE_URL or
 * NATS_URL, is used as it is. What came up is the supervisor's even when the other one failed.
 *
 * @throws {StartError}
 */
export async function startServers(config: StackConfig, steps: ServerSteps): Promise<ServerUrls> {
  const { supervisor, log, signal } = steps;
  const env = { GATEWAY_DATA_DIR: config.dataDir };
  const optionsOf = (name: string) => ({
    dataDir: path.join(config.dataDir, name),
    logFile: path.join(config.dataDir, 'logs', `${name}.log`),
    env,
    log,
    signal,
  });

  async function postgres(): Promise<string> {
    if (config.databaseUrl !== undefined) return config.databaseUrl;
    log('Starting Postgres ...');
    const server = await startPostgres(optionsOf('postgres'));
    await supervise(server);
    return ensureDatabase(server.url, databaseName);
  }

  async function nats(): Promise<string> {
    if (config.natsUrl !== undefined) return config.natsUrl;
    log('Starting NATS ...');
    const server = await startNats(optionsOf('nats'));
    await supervise(server);
    return server.url;
  }

  function supervise(server: Server): Promise<void> {
    return supervisor.add(server.process, [server.port]);
  }

  // Both ends are waited for: what starts late must not start behind the back of a stop.
  const [database, messaging] = await Promise.allSettled([postgres(), nats()]);
  if (database.status === 'rejected') throw database.reason;
  if (messaging.status === 'rejected') throw messaging.reason;
  return { databaseUrl: database.value, natsUrl: messaging.value };
}
