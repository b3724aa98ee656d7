import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { ensureTemplate, type Template } from './template-database.ts';

/** A closed connection stays in the server's list for a moment. */
const closingMs = 2000;

/** A database for one test. */
export interface TestDatabase {
  readonly url: string;
  /** Drops the database; then rejects if a connection to it was left open. */
  drop(): Promise<void>;
}

function maintenanceUrl(): string {
  const url = process.env['TEST_DATABASE_URL'];
  if (url === undefined) throw new Error('TEST_DATABASE_URL is set by the global setup of jest');
  return url;
}

function urlOf(database: string): string {
  const url = new URL(maintenanceUrl());
  url.pathname = `/${database}`;
  return url.href;
}

let pool: pg.Pool | undefined;

/**
 * Runs the work on a connection that this worker keeps: to open one takes a third of the time of a copy. There is one, because
 * an advisory lock does not exclude others of its connection.
 */
async function withMaintenance<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  pool ??= new pg.Pool({
    connectionString: maintenanceUrl(),
    application_name: 'test-database',
    max: 1,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
  }).on('error', () => undefined);
  const client = await pool.connect();
  try {
    return await work(client);
  } finally {
    client.release();
  }
}

interface Connection {
  readonly application_name: string;
  readonly state: string | null;
  readonly query: string;
}

async function openConnections(client: pg.ClientBase, database: string): Promise<Connection[]> {
  const { rows } = await client.query<Connection>(
    `select application_name, state, query from pg_stat_activity
     where datname = $1 and backend_type = 'client backend'`,
    [database],
  );
  return rows;
}

async function dropDatabase(client: pg.ClientBase, database: string): Promise<void> {
  const deadline = performance.now() + closingMs;
  let leaked = await openConnections(client, database);
  while (leaked.length > 0 && performance.now() < deadline) {
    await delay(10);
    leaked = await openConnections(client, database);
  }
  await client.query(`drop database ${database} with (force)`);
  if (leaked.length === 0) return;
  const list = leaked.map((one) => `${one.application_name} (${one.state ?? '?'}): ${one.query}`);
  throw new Error(`${leaked.length} connections to the test database leaked: ${list.join('; ')}`);
}

/**
 * Creates a database with every migration applied, and with the partitions of today if asked for: a copy of a template that is made
 * once per run. Needs the Postgres of the global setup.
 */
export async function createTestDatabase(template: Template = 'tables'): Promise<TestDatabase> {
  return createFrom(await withMaintenance((client) => ensureTemplate(client, template, urlOf)));
}

/** Creates a database without any migration applied. Needs the Postgres of the global setup. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return createFrom('template1');
}

async function createFrom(source: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  // Copies the files. Through the WAL, which is the default, takes twice the CPU time.
  const strategy = 'strategy file_copy';
  await withMaintenance((client) =>
    client.query(`create database ${name} template ${source} ${strategy}`),
  );
  return {
    url: urlOf(name),
    drop: () => withMaintenance((client) => dropDatabase(client, name)),
  };
}
