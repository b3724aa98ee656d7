import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase } from './test-database.ts';

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

describe('createTestDatabase', () => {
  it('gives each caller its own migrated database, also in parallel', async () => {
    const databases = await Promise.all([1, 2, 3].map(() => createTestDatabase()));
    for (const { url } of databases) {
      expect(await query(url, 'select name from services')).toEqual([]);
    }
    await Promise.all(databases.map(({ url }) => query(url, 'create table mine (id int)')));
    await Promise.all(databases.map((database) => database.drop()));
    const [first] = databases;
    await expect(query(first?.url ?? '', 'select 1')).rejects.toThrow(/does not exist/);
  });

  it('reports a connection that was left open, and still drops the database', async () => {
    const database = await createTestDatabase();
    const leak = new pg.Client({ connectionString: database.url, application_name: 'leaky' });
    leak.on('error', () => undefined);
    await leak.connect();
    await leak.query('select 42');
    await expect(database.drop()).rejects.toThrow(/1 connections .*leaky \(idle\): select 42/);
    await expect(query(database.url, 'select 1')).rejects.toThrow(/does not exist/);
  });
});
