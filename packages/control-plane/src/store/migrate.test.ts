import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { migrate } from './migrate.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../../migrations/', import.meta.url));
const name = `migrate_${randomBytes(6).toString('hex')}`;
const maintenanceUrl = process.env['TEST_DATABASE_URL'] ?? '';

async function query<T extends object>(url: string, text: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<T>(text)).rows;
  } finally {
    await client.end();
  }
}

function databaseUrl(): string {
  const url = new URL(maintenanceUrl);
  url.pathname = `/${name}`;
  return url.href;
}

describe('migrate', () => {
  beforeAll(async () => {
    await query(maintenanceUrl, `create database ${name}`);
  });

  afterAll(async () => {
    await query(maintenanceUrl, `drop database ${name} with (force)`);
  });

  it('applies each migration once when several replicas start at the same time', async () => {
    await Promise.all(Array.from({ length: 5 }, () => migrate(databaseUrl())));
    const applied = await query<{ name: string }>(
      databaseUrl(),
      'select name from kysely_migration order by name',
    );
    const files = (await readdir(MIGRATIONS)).filter((name) => /^\d{4}_.*\.ts$/.test(name));
    const names = files.map((name) => path.basename(name, '.ts')).toSorted();
    expect(names.length).toBeGreaterThan(0);
    expect(applied.map((row) => row.name)).toEqual(names);
  });

  it('changes nothing on a database that is up to date', async () => {
    const times = 'select name, timestamp from kysely_migration order by name';
    const before = await query(databaseUrl(), times);
    await migrate(databaseUrl());
    expect(await query(databaseUrl(), times)).toEqual(before);
  });

  it('notifies listeners of an outbox row with the name of its environment', async () => {
    const client = new pg.Client({ connectionString: databaseUrl() });
    await client.connect();
    try {
      const heard = new Promise<string | undefined>((resolve) => {
        client.once('notification', (message: pg.Notification) => {
          resolve(message.payload);
        });
      });
      await client.query('listen config_outbox');
      await client.query(`insert into environments (name, created_at) values ('staging', now())`);
      await client.query(
        `insert into config_outbox (environment, action, kind, entity_id)
         values ('staging', 'environment.created', 'environment', 'staging')`,
      );
      expect(await heard).toBe('staging');
    } finally {
      await client.end();
    }
  });

  it('leaves what a newer release has applied', async () => {
    const mark = `insert into kysely_migration (name, timestamp) values ('9999_next', now()::text)`;
    await query(databaseUrl(), mark);
    await migrate(databaseUrl());
    const applied = await query<{ name: string }>(
      databaseUrl(),
      'select name from kysely_migration',
    );
    expect(applied.map((row) => row.name)).toContain('9999_next');
  });

  it('refuses a database with a migration that no release could have applied in between', async () => {
    const mark = `insert into kysely_migration (name, timestamp) values ('0008_other', now()::text)`;
    await query(databaseUrl(), mark);
    await expect(migrate(databaseUrl())).rejects.toThrow('has the migration 0008_other');
  });

  it('rejects if the database cannot be reached', async () => {
    await expect(migrate('postgres://nobody@127.0.0.1:1/none')).rejects.toThrow(/ECONNREFUSED/);
  });
});
