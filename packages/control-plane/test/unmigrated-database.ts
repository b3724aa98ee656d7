import { randomBytes } from 'node:crypto';
import { migrations } from '@gateway/migrations';
import { Kysely, PostgresDialect } from 'kysely';
import { Migrator } from 'kysely/migration';
import pg from 'pg';

/** An empty database, for tests of what a migration makes of stored data. */
export interface UnmigratedDatabase {
  readonly db: Kysely<unknown>;
  readonly url: string;
  /** Applies the migrations up to this one. */
  migrateTo(last: string): Promise<void>;
  close(): Promise<void>;
}

const maintenanceUrl = process.env['TEST_DATABASE_URL'] ?? '';

export async function openUnmigratedDatabase(): Promise<UnmigratedDatabase> {
  const name = `unmigrated_${randomBytes(6).toString('hex')}`;
  const maintenance = new pg.Client({ connectionString: maintenanceUrl });
  await maintenance.connect();
  await maintenance.query(`create database ${name}`);
  const url = new URL(maintenanceUrl);
  url.pathname = `/${name}`;
  // The end of a pool does not wait for its connections, which would keep the database from being dropped.
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  const connection = Object.assign(client, { release: () => undefined });
  const pool = {
    options: {},
    connect: () => Promise.resolve(connection),
    end: () => client.end(),
  };
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  return {
    db,
    url: url.href,
    async migrateTo(last) {
      const provider = { getMigrations: () => Promise.resolve({ ...migrations }) };
      const { error } = await new Migrator({ db, provider }).migrateTo(last);
      if (error !== undefined) throw error as Error;
    },
    async close() {
      await db.destroy();
      await maintenance.query(`drop database ${name}`);
      await maintenance.end();
    },
  };
}
