import path from 'node:path';
import { startNats } from '../nats/start-nats.ts';
import { startPostgres } from '../postgres/start-postgres.ts';
import { ensureDatabase } from '../postgres/ensure-database.ts';
import type { Server } from '../process/managed-process.ts';
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
 * Starts Postgres and NATS in parallel. If DATABASE_URL or NATS_URL is set, that server is used instead. A server that
 * started is added to the supervisor even if the other one fails.
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

  // Waits for both, so that a slow one cannot start after a stop.
  const [database, messaging] = await Promise.allSettled([postgres(), nats()]);
  if (database.status === 'rejected') throw database.reason;
  if (messaging.status === 'rejected') throw messaging.reason;
  return { databaseUrl: database.value, natsUrl: messaging.value };
}
