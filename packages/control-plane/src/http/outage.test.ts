import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { eventually } from '@gateway/shared/test/eventually';
import { sql } from 'kysely';
import { startTestApi, type Answer, type TestApi } from '../../test/api.ts';
import { openTcpGate, type TcpGate } from '@gateway/shared/test/tcp-gate';
import { openDatabase, type Database } from '../store/database.ts';

describe('the management API without Postgres', () => {
  let api: TestApi;
  let gate: TcpGate | undefined;

  beforeEach(async () => {
    api = await startTestApi({
      databaseVia: async (port) => (gate = await openTcpGate(port)).port,
    });
  });

  afterEach(async () => {
    await gate?.set('open');
    await api.close();
    await gate?.close();
  });

  it('answers gateway_not_ready with Retry-After, and serves again when Postgres is back', async () => {
    expect((await api.call('GET', '/v1/services')).status).toBe(200);
    await gate?.set('shut');
    const answer = await api.call('GET', '/v1/services');
    expect({ status: answer.status, code: answer.json.error?.['code'] }).toEqual({
      status: 503,
      code: 'gateway_not_ready',
    });
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.headers.get('x-ratelimit-remaining')).toBe('1000');
    expect(answer.text).not.toMatch(/ECONN|postgres|127\.0\.0\.1/i);
    await gate?.set('open');
    await eventually(async () => {
      expect((await api.call('GET', '/v1/services')).status).toBe(200);
    });
  });

  /** Runs a PATCH of a service's name whose connection to Postgres is cut while this query waits. */
  async function cutPatch(
    block: (session: Database) => Promise<unknown>,
    waitingQuery: string,
    unblock: (session: Database) => Promise<unknown>,
  ) {
    const body = { name: 'before', environment: 'production', url: 'http://pay.example' };
    const made = await api.call('POST', '/v1/services', { body });
    const path = made.headers.get('location') ?? '';
    const direct = openDatabase({ url: api.databaseUrl, log: createLogger('test', 'silent') });
    const isWaiting = async () => {
      const { rows } = await sql`
        SELECT FROM pg_stat_activity WHERE datname = current_database()
          AND wait_event_type = 'Lock' AND query ILIKE ${waitingQuery}
      `.execute(direct.db);
      expect(rows).toHaveLength(1);
    };
    let answer: Answer | undefined;
    try {
      await direct.db.connection().execute(async (session) => {
        await block(session);
        const patch = api.call('PATCH', path, { body: { name: 'after' } });
        await eventually(isWaiting);
        await gate?.set('shut');
        answer = await patch;
        await unblock(session);
      });
    } finally {
      await direct.close();
    }
    await gate?.set('open');
    const nameNow = async () => (await api.call('GET', path)).json.data?.['name'];
    return { answer, nameNow };
  }

  it('answers internal_error if Postgres is lost during COMMIT, because the change may have been made', async () => {
    await sql`
      CREATE FUNCTION hold_commit() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END';
      CREATE CONSTRAINT TRIGGER hold_commit AFTER UPDATE ON services
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hold_commit()
    `.execute(api.db);
    const { answer, nameNow } = await cutPatch(
      (session) => sql`SELECT pg_advisory_lock(1)`.execute(session),
      'commit',
      (session) => sql`SELECT pg_advisory_unlock(1)`.execute(session),
    );
    expect({ status: answer?.status, ...answer?.json.error }).toMatchObject({
      status: 500,
      code: 'internal_error',
      message: expect.stringMatching(/^The database was lost during the commit; the change may /),
    });
    expect(answer?.headers.get('retry-after')).toBeNull();
    await eventually(async () => expect(await nameNow()).toBe('after'));
  });

  it('answers gateway_not_ready if Postgres is lost before COMMIT, and nothing is changed', async () => {
    const { answer, nameNow } = await cutPatch(
      (session) => sql`BEGIN; SELECT FROM services FOR UPDATE`.execute(session),
      '%for update',
      (session) => sql`ROLLBACK`.execute(session),
    );
    expect({ status: answer?.status, code: answer?.json.error?.['code'] }).toEqual({
      status: 503,
      code: 'gateway_not_ready',
    });
    await eventually(async () => expect(await nameNow()).toBe('before'));
  });

  it('answers an unexpected failure with internal_error and nothing about the cause', async () => {
    await api.db.schema.dropTable('routes').cascade().execute();
    const answer = await api.call('GET', '/v1/routes');
    expect(answer.status).toBe(500);
    expect(answer.json.error).toEqual({
      code: 'internal_error',
      message: 'The gateway failed unexpectedly.',
      request_id: answer.headers.get('x-request-id'),
    });
  });
});
