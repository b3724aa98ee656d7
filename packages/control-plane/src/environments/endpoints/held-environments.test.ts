import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { sql } from 'kysely';
import pg from 'pg';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { expectError } from '../../../test/expect-error.ts';

const NAME = 'staging';
const PATH = `/v1/environments/${NAME}`;

let api: TestApi;
let holder: pg.Client;

beforeEach(async () => {
  await api.call('POST', '/v1/environments', { body: { name: NAME } });
  holder = new pg.Client({ connectionString: api.databaseUrl });
  await holder.connect();
  await holder.query('BEGIN');
});
afterEach(() => holder.end());
beforeAll(async () => void (api = await startTestApi()));
afterAll(() => api.close());

/** Of each call that waits for a lock: whether it waits for the holder. */
async function waits(): Promise<readonly boolean[]> {
  const held = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const { rows } = await sql<{ forHolder: boolean }>`
    SELECT ${held.rows[0]?.pid} = ANY(pg_blocking_pids(pid)) AS "forHolder"
    FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'
    ORDER BY 1`.execute(api.db);
  return rows.map(({ forHolder }) => forHolder);
}

const CHANGES = [
  { call: 'rollback', holds: 'config_outbox IN ACCESS EXCLUSIVE', deletion: 204 },
  // The deletion finds the service of the apply.
  { call: 'apply', holds: 'services IN SHARE', deletion: 409 },
] as const;

describe.each(CHANGES)('a change of a whole environment: $call', ({ call, holds, deletion }) => {
  const change = (version: number) => {
    const services = [{ name: `of-version-${version}`, url: 'http://orders.example' }];
    const body = call === 'apply' ? { if_version: version, services } : { version };
    return api.call('POST', `${PATH}/${call}`, { body });
  };

  it('keeps its environment from being deleted, and its name from being taken, meanwhile', async () => {
    const version = await api.publish(NAME);
    await holder.query(`LOCK TABLE ${holds} MODE`);
    const changed = change(version);
    await eventually(async () => expect(await waits()).toEqual([true]));
    const deleted = api.call('DELETE', PATH);
    await eventually(async () => expect(await waits()).toEqual([false, true]));
    await holder.query('COMMIT');
    expect([(await changed).status, (await deleted).status]).toEqual([200, deletion]);
  });

  it('waits for a deletion of its environment, and is refused then', async () => {
    const version = await api.publish(NAME);
    await holder.query('SELECT FROM environments WHERE name = $1 FOR UPDATE', [NAME]);
    await holder.query('UPDATE environments SET deleted_at = now() WHERE name = $1', [NAME]);
    const changed = change(version);
    await eventually(async () => expect(await waits()).toEqual([true]));
    await holder.query('COMMIT');
    expectError(await changed, 404, 'environment_not_found');
  });
});

describe('the creation of a token', () => {
  const create = (name: string) => {
    const body = { name, environments: [NAME], scopes: ['proxy'] };
    return api.call('POST', '/v1/tokens', { body });
  };

  it('keeps its environment from being deleted meanwhile', async () => {
    await holder.query('LOCK TABLE tokens IN SHARE MODE');
    const created = create('first');
    await eventually(async () => expect(await waits()).toEqual([true]));
    const deleted = api.call('DELETE', PATH);
    await eventually(async () => expect(await waits()).toEqual([false, true]));
    await holder.query('COMMIT');
    const made = await created;
    expect(made.status).toBe(201);
    expectError(await deleted, 409, 'environment_in_use');
    await api.call('DELETE', `/v1/tokens/${made.json.data?.id ?? ''}`);
  });

  it('waits for a deletion of its environment, and is refused then', async () => {
    await holder.query('SELECT FROM environments WHERE name = $1 FOR UPDATE', [NAME]);
    await holder.query('UPDATE environments SET deleted_at = now() WHERE name = $1', [NAME]);
    const created = create('second');
    await eventually(async () => expect(await waits()).toEqual([true]));
    await holder.query('COMMIT');
    expectError(await created, 400, 'invalid_request');
  });
});
