import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { freePort } from '../process/free-port.ts';
import { startProcess, type Server } from '../process/managed-process.ts';
import { asAccount, unprivilegedAccount } from '../process/unprivileged.ts';
import { waitUntilReady } from '../process/wait-until-ready.ts';
import { postgresBinaries } from './binaries.ts';
import { openCluster } from './cluster.ts';
import { createConnectCheck } from './connect-check.ts';
import { clearStalePid } from './stale-pid.ts';

export interface PostgresOptions {
  /** Folder of the cluster; created if it does not exist. */
  readonly dataDir: string;
  /** On 127.0.0.1; by default a free port. */
  readonly port?: number;
  readonly logFile?: string;
  /** Further settings, as for `postgres -c`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Added to the server's environment. */
  readonly env?: NodeJS.ProcessEnv;
  /** Aborts the start and stops what it has started. */
  readonly signal?: AbortSignal;
  /** Called with one line before each long step. */
  readonly log: (line: string) => void;
}

/**
 * Starts the embedded Postgres on 127.0.0.1 and resolves when a connection to it succeeds. `url` is that of its superuser
 * on the maintenance database. `stop` is a fast shutdown: it ends open connections and keeps all committed data.
 *
 * @throws {StartError} of one line
 */
export async function startPostgres(options: PostgresOptions): Promise<Server> {
  const { settings = {}, env = {}, signal } = options;
  const binaries = await postgresBinaries();
  const account = await unprivilegedAccount();
  const cluster = await openCluster(binaries, account, options);
  const folder = await realpath(cluster.folder);
  await clearStalePid(folder);
  signal?.throwIfAborted();
  const port = options.port ?? (await freePort());
  const flags = { listen_addresses: '127.0.0.1', port: String(port), ...settings };
  const args = ['-D', folder, ...Object.entries(flags).flatMap(([k, v]) => ['-c', `${k}=${v}`])];
  const files = [binaries.postgres, path.dirname(folder)];
  const launch = await asAccount(account, binaries.postgres, args, files);
  const server = await startProcess({
    ...launch,
    name: 'postgres',
    cwd: folder,
    env: { PATH: process.env['PATH'], LC_ALL: 'C', ...env },
    logFile: options.logFile ?? path.join(options.dataDir, 'postgres.log'),
    stopSignal: 'SIGINT',
  });
  const address = `127.0.0.1:${port}`;
  const url = `postgres://${cluster.user}:${cluster.password}@${address}/postgres`;
  await waitUntilReady(server, { check: createConnectCheck(url), timeoutMs: 60_000, signal });
  return {
    url,
    pid: server.pid,
    port,
    process: server,
    stop: async () => {
      await server.stop();
    },
  };
}
