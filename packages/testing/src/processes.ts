import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { METADATA_CIDRS } from '@gateway/shared/net/upstream-addresses';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { UndoList } from '@gateway/shared/test/undo-list';
import { startNats } from '@gateway/local-stack/nats/start-nats';
import { startPostgres } from '@gateway/local-stack/postgres/start-postgres';
import type { Server } from '@gateway/local-stack/process/managed-process';
import { freePort } from '@gateway/local-stack/process/free-port';
import { startControlPlane, startDataPlane } from '@gateway/local-stack/stack/planes';
import type { ServiceOptions, ServiceProcess } from '@gateway/local-stack/stack/service-process';
import { createEmptyDatabase, createTestDatabase } from './test-database.ts';

/** How to start one plane. All properties are optional; `env` overrides what the stack sets. */
export type PlaneStart = Partial<Omit<ServiceOptions, 'logFile'>>;

/** Real planes with their own Postgres database and NATS server. */
export interface PlaneStack {
  readonly adminToken: string;
  readonly masterKeys: string;
  readonly databaseUrl: string;
  readonly natsUrl: string;
  /** Of the first control plane; undefined before it has started. */
  readonly controlPlaneUrl: string | undefined;
  /** Stop it to test an outage. After a restart this is the new server. */
  readonly nats: Server;
  /** Starts NATS on its port again after it was stopped, with its data or without. */
  restartNats(data?: 'kept' | 'gone'): Promise<Server>;
  /** The server of the database, with `ownPostgres` only. After a restart this is the new server. */
  readonly postgres: Server | undefined;
  /** Starts that Postgres on its port and data again after it was stopped. */
  restartPostgres(): Promise<Server>;
  startControlPlane(options?: PlaneStart): Promise<ServiceProcess>;
  /** The first control plane started before is its CONTROL_PLANE_URL. */
  startDataPlane(options?: PlaneStart): Promise<ServiceProcess>;
  /** Stops everything, the planes first, and removes the data, even if a part does not stop cleanly. */
  close(): Promise<void>;
}

export interface PlaneStackOptions {
  /** Environment variables of every plane. */
  readonly env?: NodeJS.ProcessEnv;
  /** Further settings of the Postgres that is started outside jest, or with `ownPostgres`. */
  readonly postgresSettings?: Readonly<Record<string, string>>;
  /** Start a separate Postgres, also within jest, for tests that stop it. */
  readonly ownPostgres?: boolean;
  /** Leave the tables and partitions to the control planes, which otherwise find them as after an earlier start. */
  readonly emptyDatabase?: boolean;
}

interface OpenedDatabase {
  readonly url: string;
  /** Absent if the database is on the server of the jest run. */
  readonly postgres?: Server;
  readonly restart?: () => Promise<Server>;
}

async function openDatabase(
  folder: string,
  { postgresSettings = {}, ownPostgres = false, emptyDatabase = false }: PlaneStackOptions,
  undo: UndoList,
): Promise<OpenedDatabase> {
  if (process.env['TEST_DATABASE_URL'] !== undefined && !ownPostgres) {
    const database = await (emptyDatabase
      ? createEmptyDatabase()
      : createTestDatabase('partitions'));
    undo.add(() => database.drop());
    return { url: database.url };
  }
  const dataDir = path.join(folder, 'postgres');
  const options = { dataDir, settings: postgresSettings, log: () => undefined };
  let postgres = await startPostgres(options);
  undo.add(() => postgres.stop());
  const { url, port } = postgres;
  const restart = async () => (postgres = await startPostgres({ ...options, port }));
  return { url, postgres, restart };
}

/** Stops the planes, all at once. @throws the error of the first that did not stop cleanly, after all have ended */
async function stopAll(planes: readonly ServiceProcess[]): Promise<void> {
  const stopped = await Promise.allSettled(planes.map((plane) => plane.stop()));
  const failed = stopped.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/**
 * Prepares a database, a NATS server and secrets for planes that a test or the bench starts. Within jest the database is a new one
 * on the Postgres of the run; elsewhere a Postgres is started too. The NATS server is always a separate one, because the
 * names that planes use on it are fixed.
 */
export async function createPlaneStack(options: PlaneStackOptions = {}): Promise<PlaneStack> {
  const undo = new UndoList();
  const folder = await mkdtemp(path.join(tmpdir(), 'gateway-planes-'));
  await chmod(folder, 0o711);
  undo.add(() => rm(folder, { recursive: true, force: true }));
  return undo.orUndo(() => prepare(folder, options, undo));
}

async function prepare(
  folder: string,
  options: PlaneStackOptions,
  undo: UndoList,
): Promise<PlaneStack> {
  const { env = {} } = options;
  const database = await openDatabase(folder, options, undo);
  const { url: databaseUrl } = database;
  let { postgres } = database;
  const natsOptions = { dataDir: path.join(folder, 'nats'), log: () => undefined };
  let nats = await startNats(natsOptions);
  undo.add(() => nats.stop());
  const adminToken = createTokenSecret();
  const masterKeys = `k1:${randomBytes(32).toString('base64')}`;
  const planes: ServiceProcess[] = [];
  undo.add(() => stopAll(planes));
  let firstControlPlane: ServiceProcess | undefined;
  // The control plane starts before the data plane that it calls.
  const firstPort = await freePort();
  let startedDataPlanes = 0;
  let count = 0;

  async function start(
    kind: 'control-plane' | 'data-plane',
    given: PlaneStart,
  ): Promise<ServiceProcess> {
    count += 1;
    if (kind === 'data-plane') startedDataPlanes += 1;
    const isFirst = kind === 'data-plane' && startedDataPlanes === 1;
    const name = given.name ?? `${kind}-${count}`;
    const plane = await (kind === 'control-plane' ? startControlPlane : startDataPlane)({
      // A shared machine may be suspended for half a minute.
      readyTimeoutMs: 60_000,
      ...(isFirst && { port: firstPort }),
      ...given,
      name,
      logFile: path.join(folder, 'logs', `${name}-${count}.log`),
      env: {
        DATABASE_URL: databaseUrl,
        NATS_URL: nats.url,
        GATEWAY_ADMIN_TOKEN: adminToken,
        GATEWAY_MASTER_KEYS: masterKeys,
        UPSTREAM_DENY_CIDRS: METADATA_CIDRS.join(','),
        TRUSTED_PROXIES: '127.0.0.1/32,::1/128',
        DATA_PLANE_DATA_DIR: path.join(folder, name),
        DATA_PLANE_URL: `http://127.0.0.1:${firstPort}`,
        ...(firstControlPlane && { CONTROL_PLANE_URL: firstControlPlane.baseUrl }),
        ...env,
        ...given.env,
      },
    });
    if (kind === 'control-plane') firstControlPlane ??= plane;
    planes.push(plane);
    return plane;
  }

  return {
    adminToken,
    masterKeys,
    databaseUrl,
    natsUrl: nats.url,
    get controlPlaneUrl() {
      return firstControlPlane?.baseUrl;
    },
    get nats() {
      return nats;
    },
    get postgres() {
      return postgres;
    },
    async restartNats(data = 'kept') {
      const store = path.join(natsOptions.dataDir, 'jetstream');
      if (data === 'gone') await rm(store, { recursive: true });
      return (nats = await startNats({ ...natsOptions, port: nats.port }));
    },
    async restartPostgres() {
      if (database.restart === undefined) throw new Error('the stack has no Postgres of its own');
      return (postgres = await database.restart());
    },
    startControlPlane: (given = {}) => start('control-plane', given),
    startDataPlane: (given = {}) => start('data-plane', given),
    close: () => undo.run(),
  };
}
