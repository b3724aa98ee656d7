import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  openUnmigratedDatabase,
  type UnmigratedDatabase,
} from '../../../test/unmigrated-database.ts';

const BEFORE = '0013_environment_identity';
const AFTER = '0014_token_names_and_replaced_secrets';

interface StoredToken {
  readonly name: string;
  readonly secret: string;
  readonly previous?: string;
  readonly environments?: string;
  readonly createdBy?: string;
  readonly isRevoked?: true;
}

/** What the migration makes of tokens that are stored, and what the release before does on the new schema. */
describe('stored tokens, with names in each environment and replaced secrets', () => {
  let database: UnmigratedDatabase;
  beforeEach(async () => {
    database = await openUnmigratedDatabase();
    await database.migrateTo(BEFORE);
  });
  afterEach(() => database.close());

  let ids = 0;
  async function insert(token: StoredToken): Promise<string> {
    const { name, secret, previous = null, environments = '{production}', createdBy } = token;
    const id = `tok_${(ids += 1)}`;
    const everything = environments === '{*}' ? '{*}' : '{proxy}';
    await sql`
      INSERT INTO tokens (id, name, environments, routes, scopes, secret_sha256, previous_sha256,
        previous_expires_at, created_by, created_at, updated_at, revoked_at)
      VALUES (${id}, ${name}, ${environments}::text[], '{*}', ${everything}::text[], ${secret}::bytea,
        ${previous}::bytea, ${previous === null ? null : new Date()}, ${createdBy ?? null},
        now(), now(), ${token.isRevoked ? new Date() : null})
    `.execute(database.db);
    return id;
  }

  const names = async () =>
    (
      await sql<{ key: string }>`
      SELECT environment || ' ' || name AS key FROM token_names ORDER BY 1
    `.execute(database.db)
    ).rows.map(({ key }) => key);

  const rotate = (id: string, secret: string) =>
    sql`
      UPDATE tokens SET secret_sha256 = ${secret}::bytea, previous_sha256 = secret_sha256,
        previous_expires_at = now() WHERE id = ${id}
    `.execute(database.db);

  it('have their names in each environment, unless they are revoked', async () => {
    await insert({
      name: 'billing',
      secret: 'a',
      environments: '{production,development,production}',
      createdBy: 'x',
    });
    await insert({ name: 'billing', secret: 'b', isRevoked: true, createdBy: 'x' });
    await insert({ name: 'admin', secret: 'c', environments: '{*}' });
    await database.migrateTo(AFTER);
    expect(await names()).toEqual(['* admin', 'development billing', 'production billing']);
  });

  it('have the secrets that they had before, and those that any release replaces', async () => {
    const id = await insert({ name: 'billing', secret: 'new', previous: 'old', createdBy: 'x' });
    await database.migrateTo(AFTER);
    await rotate(id, 'newer');
    const { rows } = await sql<{ secret: string }>`
      SELECT convert_from(sha256, 'UTF8') AS secret FROM replaced_secrets ORDER BY 1
    `.execute(database.db);
    expect(rows.map(({ secret }) => secret)).toEqual(['new', 'old']);
  });

  it('can be rotated if a revoked token had their secret before', async () => {
    await insert({ name: 'first', secret: 's2', previous: 's1', isRevoked: true, createdBy: 'x' });
    const id = await insert({ name: 'second', secret: 's1', createdBy: 'x' });
    await database.migrateTo(AFTER);
    await rotate(id, 's3');
    expect(await names()).toEqual(['production second']);
  });

  it('are the admin token if the release before took them for it', async () => {
    const id = await insert({ name: 'admin', secret: 'a', environments: '{*}', createdBy: 'x' });
    await database.migrateTo(AFTER);
    const { rows } = await sql`SELECT id, created_by FROM tokens`.execute(database.db);
    expect(rows).toEqual([{ id, created_by: null }]);
  });

  it('cannot take the name of the admin token, for the release before either', async () => {
    await insert({ name: 'root', secret: 'a', environments: '{*}' });
    await database.migrateTo(AFTER);
    const taken = { code: '23505', constraint: 'tokens_name_key' };
    const created = insert({ name: 'admin', secret: 'b', createdBy: 'x' });
    await expect(created).rejects.toMatchObject(taken);
    const id = await insert({ name: 'other', secret: 'c', createdBy: 'x' });
    const renamed = sql`UPDATE tokens SET name = 'admin' WHERE id = ${id}`.execute(database.db);
    await expect(renamed).rejects.toMatchObject(taken);
    // The admin token itself has it back.
    await sql`UPDATE tokens SET name = 'admin' WHERE name = 'root'`.execute(database.db);
    expect(await names()).toEqual(['* admin', 'production other']);
  });
});
