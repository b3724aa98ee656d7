import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql, type Kysely } from 'kysely';
import {
  openUnmigratedDatabase,
  type UnmigratedDatabase,
} from '../../../test/unmigrated-database.ts';

const BEFORE = '0012_access_log';
const WITH_IDENTITY = '0013_environment_identity';

/** What the release before does to an environment, with the schema that it knows. */
describe('the identity of an environment, beside the release before', () => {
  let database: UnmigratedDatabase;
  let db: Kysely<unknown>;
  const migrateTo = (last: string) => database.migrateTo(last);

  beforeAll(async () => {
    database = await openUnmigratedDatabase();
    db = database.db;
    await migrateTo(BEFORE);
    await create('first', 10);
    await create('again', 10);
    await publish('again', 1);
    await remove('again', 20);
    await create('again', 30);
    await publish('again', 2);
    await create('pruned', 10);
    await publish('pruned', 1);
    await remove('pruned', 20);
    await create('pruned', 30);
    await publish('pruned', 2);
    await sql`DELETE FROM config_outbox WHERE environment = 'pruned'`.execute(db);
    await publish('pruned', 3);
    await create('gone', 10);
    await remove('gone', 20);
    await migrateTo(WITH_IDENTITY);
  });

  afterAll(() => database.close());

  const at = (minute: number) =>
    sql`'2030-01-01T00:00:00Z'::timestamptz + ${minute} * interval '1 minute'`;

  async function change(environment: string, action: string, minute: number): Promise<void> {
    await sql`INSERT INTO config_outbox (environment, action, kind, entity_id)
      VALUES (${environment}, ${action}, 'environment', ${environment})`.execute(db);
    await sql`INSERT INTO audit_events
        (occurred_at, id, action, resource_type, resource_id, environments, routes)
      VALUES (${at(minute)}, ${`aud_${environment}_${minute}`}, ${action}, 'environment',
        ${environment}, ${[environment]}, '{}')`.execute(db);
  }

  async function create(environment: string, minute: number): Promise<void> {
    await sql`INSERT INTO environments (name, created_at) VALUES (${environment}, ${at(minute)})
      ON CONFLICT (name) DO UPDATE SET created_at = excluded.created_at, deleted_at = NULL
      WHERE environments.deleted_at IS NOT NULL`.execute(db);
    await change(environment, 'environment.created', minute);
  }

  async function remove(environment: string, minute: number): Promise<void> {
    await sql`UPDATE environments SET deleted_at = ${at(minute)} WHERE name = ${environment}`.execute(
      db,
    );
    await change(environment, 'environment.deleted', minute);
  }

  async function publish(environment: string, version: number): Promise<void> {
    await sql`UPDATE environments SET config_version = ${version} WHERE name = ${environment}`.execute(
      db,
    );
    await sql`INSERT INTO config_versions (environment, version, published_at, why)
      SELECT ${environment}, ${version}, created_at, 'changed' FROM environments
      WHERE name = ${environment}`.execute(db);
    await sql`UPDATE config_outbox SET published_version = ${version}
      WHERE environment = ${environment} AND published_version IS NULL`.execute(db);
  }

  async function read(environment: string) {
    const { rows } = await sql<Record<string, unknown>>`
      SELECT id, first_version::int, recreated, unplaced_from = created_at AS cut_by_time,
        first_change = coalesce((SELECT max(id) FROM config_outbox
          WHERE environment = environments.name AND action = 'environment.created'), 0) AS is_newest
      FROM environments WHERE name = ${environment}`.execute(db);
    return rows[0];
  }

  it('begins with its creation, if it was created again before, or else with its time', async () => {
    expect(await read('first')).toMatchObject({
      first_version: 1,
      recreated: false,
      cut_by_time: null,
    });
    const again = { first_version: 2, recreated: true, cut_by_time: true };
    expect(await read('again')).toMatchObject({ ...again, is_newest: true });
    expect(await read('pruned')).toMatchObject(again);
  });

  it('gives every environment an id of its own', async () => {
    const { rows } = await sql<{ id: string }>`SELECT id FROM environments`.execute(db);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    for (const { id } of rows) expect(id).toMatch(/^env_[0-9a-hjkmnp-tv-z]{26}$/);
  });

  it('is another one if the release before creates it again', async () => {
    for (const environment of ['gone', 'again']) {
      const before = await read(environment);
      await remove(environment, 40);
      await create(environment, 50);
      const created = await read(environment);
      expect(created).toMatchObject({ first_version: null, recreated: true, cut_by_time: null });
      expect(created).toMatchObject({ is_newest: true });
      expect(created?.['id']).not.toBe(before?.['id']);
      await publish(environment, 7);
      expect(await read(environment)).toMatchObject({ first_version: 7, id: created?.['id'] });
    }
  });

  it('is not begun by an earlier creation whose publication is stored late', async () => {
    await create('late', 10);
    const { rows } = await sql<{ id: string }>`
      SELECT max(id)::text AS id FROM config_outbox WHERE environment = 'late'`.execute(db);
    await remove('late', 20);
    await create('late', 30);
    await sql`UPDATE config_outbox SET published_version = 1
      WHERE id = ${rows[0]?.id ?? ''}::bigint`.execute(db);
    expect(await read('late')).toMatchObject({ first_version: null, is_newest: true });
  });

  it('places an audit event of the release before among the changes', async () => {
    await create('placed', 10);
    const { rows } = await sql<{ placed: boolean }>`
      SELECT change_id > (SELECT first_change FROM environments WHERE name = 'placed') AS placed
      FROM audit_events WHERE resource_id = 'placed'`.execute(db);
    expect(rows).toEqual([{ placed: true }]);
  });
});
