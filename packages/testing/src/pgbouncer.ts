import { chmod, chown, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findOnPath } from '@gateway/local-stack/process/find-on-path';
import { freePort } from '@gateway/local-stack/process/free-port';
import { startProcess } from '@gateway/local-stack/process/managed-process';
import { asAccount, unprivilegedAccount } from '@gateway/local-stack/process/unprivileged';
import { waitUntilReady } from '@gateway/local-stack/process/wait-until-ready';
import { LIBRARIES, unpackedProgram } from './debian-program.ts';
import { queryDatabase } from './query-database.ts';

export interface PgBouncerOptions {
  /** Of any database on the server. */
  readonly databaseUrl: string;
  readonly poolMode: 'transaction' | 'session';
  /** Settings of connections that it drops. It refuses a client with another one. */
  readonly ignoredParameters?: readonly string[];
  /** Connections to Postgres; by default fewer than the clients of a test, so that they share them. */
  readonly poolSize?: number;
}

export interface PgBouncer {
  /** The same database through it. */
  through(databaseUrl: string): string;
  stop(): Promise<void>;
}

const PGBOUNCER = {
  name: 'pgbouncer',
  folder: 'pgbouncer',
  purpose: 'the tests of poolers',
  program: 'usr/sbin/pgbouncer',
  // With the libraries that the system lacks.
  command: ['install', '--download-only', '--no-install-recommends', '--yes', 'pgbouncer'],
  hint: 'install pgbouncer (Debian: apt-get install pgbouncer)',
};
/** Starts PgBouncer in front of a Postgres: the one on the PATH, else Debian's. */
export async function startPgBouncer(options: PgBouncerOptions): Promise<PgBouncer> {
  const { username, password, port: postgresPort } = new URL(options.databaseUrl);
  const { program, env } = await findPgBouncer();
  const account = await unprivilegedAccount();
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'gateway-pgbouncer-')));
  const port = await freePort();
  const users = path.join(folder, 'users.txt');
  const settings = path.join(folder, 'pgbouncer.ini');
  await writeFile(users, `"${username}" "${password}"\n`);
  await writeFile(
    settings,
    `[databases]
* = host=127.0.0.1 port=${postgresPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = ${options.poolMode}
default_pool_size = ${options.poolSize ?? 4}
ignore_startup_parameters = ${(options.ignoredParameters ?? []).join(',')}
`,
  );
  await chmod(folder, 0o711);
  if (account !== undefined)
    for (const file of [users, settings]) await chown(file, account.uid, account.gid);
  const launch = await asAccount(account, program, [settings], [program, folder]);
  const server = await startProcess({
    ...launch,
    name: 'pgbouncer',
    cwd: folder,
    env: { PATH: process.env['PATH'], ...env },
    logFile: path.join(folder, 'pgbouncer.log'),
    stopSignal: 'SIGINT',
  });
  const through = (databaseUrl: string) => {
    const url = new URL(databaseUrl);
    url.port = String(port);
    return url.href;
  };
  await waitUntilReady(server, {
    check: async () => (await queryDatabase(through(options.databaseUrl), 'SELECT 1')).length === 1,
    timeoutMs: 20_000,
  });
  return {
    through,
    async stop() {
      await server.stop('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function findPgBouncer(): Promise<{ program: string; env: NodeJS.ProcessEnv }> {
  const installed = await findOnPath('pgbouncer');
  if (installed !== undefined) return { program: installed, env: {} };
  const folder = await realpath(await unpackedProgram(PGBOUNCER, { log: () => undefined }));
  return {
    program: path.join(folder, PGBOUNCER.program),
    env: { LD_LIBRARY_PATH: path.join(folder, LIBRARIES) },
  };
}
