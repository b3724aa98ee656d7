import { mkdtemp, chmod, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '@gateway/shared/test/eventually';
import pg from 'pg';
import { freePort } from '../src/process/free-port.ts';
import type { Server } from '../src/process/managed-process.ts';
import { startPostgres } from '../src/postgres/start-postgres.ts';
import { copyCluster } from './postgres-copy.ts';

/** A primary and a standby that it streams to, each a process of its own. */
export interface PostgresPair {
  readonly primary: Server;
  readonly standby: Server;
  /** A database URL with both, the primary first. @param database its name */
  url(database?: string): string;
  /** Makes the standby a primary, and resolves when it accepts writes. */
  promote(): Promise<void>;
  close(): Promise<void>;
}

const STANDBY = 'standby';

/** Starts both. A commit of the primary waits until it can be read on the standby. */
export async function startPostgresPair(): Promise<PostgresPair> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gateway-pair-'));
  await chmod(folder, 0o711);
  const log = () => undefined;
  const servers: Server[] = [];
  const close = async () => {
    await Promise.all(servers.map(({ process }) => process.stop('SIGKILL')));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const primaryDir = path.join(folder, 'primary');
    const primary = await startPostgres({ dataDir: primaryDir, log });
    servers.push(primary);
    await run(primary.url, `SELECT pg_create_physical_replication_slot('${STANDBY}', true)`);
    const standbyDir = path.join(folder, STANDBY);
    await copyCluster({ url: primary.url, from: primaryDir, to: standbyDir, signal: 'standby' });
    const { username, password } = new URL(primary.url);
    const standby = await startPostgres({
      dataDir: standbyDir,
      port: await freePort(),
      log,
      settings: {
        primary_conninfo: `host=127.0.0.1 port=${primary.port} user=${username} password=${password} application_name=${STANDBY}`,
        primary_slot_name: STANDBY,
      },
    });
    servers.push(standby);
    await run(primary.url, `ALTER SYSTEM SET synchronous_standby_names = '${STANDBY}'`);
    await run(primary.url, `ALTER SYSTEM SET synchronous_commit = 'remote_apply'`);
    await run(primary.url, 'SELECT pg_reload_conf()');
    await eventually(async () => {
      const found = await run(primary.url, 'SELECT sync_state FROM pg_stat_replication');
      if (found[0]?.['sync_state'] !== 'sync') throw new Error('the standby is not synchronous');
    });
    return {
      primary,
      standby,
      url: (database = 'postgres') =>
        `postgres://${username}:${password}@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/${database}?target_session_attrs=read-write`,
      async promote() {
        await run(standby.url, 'SELECT pg_promote(true, 60)');
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function run(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}
