import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '@gateway/shared/test/eventually';
import type { Server } from '@gateway/local-stack/process/managed-process';
import { startPostgres } from '@gateway/local-stack/postgres/start-postgres';
import { copyCluster } from './postgres-copy.ts';
import { queryDatabase } from './query-database.ts';

/** A primary and a standby that it streams to, each a process of its own. */
export interface PostgresPair {
  /** After a promotion this is the former standby. */
  readonly primary: Server;
  /** After a promotion this is the former primary until another one is made. */
  readonly standby: Server;
  /**
   * A database URL with both servers, always in the same order.
   *
   * @param database its name
   * @param through the port at which a server is reached
   */
  url(database?: string, through?: (port: number) => number): string;
  /** Makes the standby the primary, and resolves when it accepts writes. The former primary must have been stopped. */
  promote(): Promise<void>;
  /** Replaces the former primary by a standby at its port, and resolves when each commit waits for it. */
  replaceStandby(): Promise<void>;
  close(): Promise<void>;
}

interface Node {
  readonly dataDir: string;
  readonly server: Server;
}

const STANDBY = 'standby';
const SLOT = `SELECT pg_create_physical_replication_slot('${STANDBY}', true)
  WHERE NOT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = '${STANDBY}')`;
const log = () => undefined;

/** Starts both. A commit of the primary waits until it can be read on the standby. */
export async function startPostgresPair(): Promise<PostgresPair> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gateway-pair-'));
  await chmod(folder, 0o711);
  const dirs = [path.join(folder, 'one'), path.join(folder, 'two')] as const;
  const nodes: Node[] = [];
  const close = async () => {
    await Promise.all(nodes.map(({ server }) => server.process.stop('SIGKILL')));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    let primary: Node = {
      dataDir: dirs[0],
      server: await startPostgres({ dataDir: dirs[0], log }),
    };
    nodes.push(primary);
    let standby = await startStandby(primary, dirs[1]);
    nodes.push(standby);
    const ports = nodes.map(({ server }) => server.port);
    return {
      get primary() {
        return primary.server;
      },
      get standby() {
        return standby.server;
      },
      url(database = 'postgres', through = (port: number) => port) {
        const { username, password } = new URL(primary.server.url);
        const hosts = ports.map((port) => `127.0.0.1:${through(port)}`).join(',');
        return `postgres://${username}:${password}@${hosts}/${database}?target_session_attrs=read-write`;
      },
      async promote() {
        await queryDatabase(standby.server.url, 'SELECT pg_promote(true, 60)');
        [primary, standby] = [standby, primary];
      },
      async replaceStandby() {
        const { dataDir, server } = standby;
        await rm(dataDir, { recursive: true });
        standby = await startStandby(primary, dataDir, server.port);
        nodes.push(standby);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Starts a standby on a copy of the primary, and lets the primary wait for it. */
async function startStandby(primary: Node, dataDir: string, port?: number): Promise<Node> {
  const { url } = primary.server;
  await queryDatabase(url, SLOT);
  await copyCluster({ url, from: primary.dataDir, to: dataDir, signal: 'standby' });
  const { username, password } = new URL(url);
  const server = await startPostgres({
    dataDir,
    ...(port !== undefined && { port }),
    log,
    settings: {
      primary_conninfo: `host=127.0.0.1 port=${primary.server.port} user=${username} password=${password} application_name=${STANDBY}`,
      primary_slot_name: STANDBY,
    },
  });
  try {
    // When it is promoted there is no other one to wait for.
    await queryDatabase(server.url, 'ALTER SYSTEM RESET synchronous_standby_names');
    await queryDatabase(server.url, 'SELECT pg_reload_conf()');
    await queryDatabase(url, `ALTER SYSTEM SET synchronous_standby_names = '${STANDBY}'`);
    await queryDatabase(url, `ALTER SYSTEM SET synchronous_commit = 'remote_apply'`);
    await queryDatabase(url, 'SELECT pg_reload_conf()');
    await eventually(async () => {
      const [found] = await queryDatabase(url, 'SELECT sync_state FROM pg_stat_replication');
      if (found?.['sync_state'] !== 'sync') throw new Error('the standby is not synchronous');
    });
  } catch (error) {
    await server.process.stop('SIGKILL');
    throw error;
  }
  return { dataDir, server };
}
