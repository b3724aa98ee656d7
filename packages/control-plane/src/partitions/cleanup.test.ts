import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Clock } from '@gateway/shared/clock';
import { createIdFactory } from '@gateway/shared/ids';
import { sql } from 'kysely';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { REQUEST_RECORDS } from './partitioned-table.ts';
import { ownOrigin } from '../changes/store/change-origin.ts';
import { createToken } from '../tokens/store/change-tokens.ts';
import { listAuditEvents } from '../audit/store/audit-events.ts';
import { listPartitions } from './store/partitions.ts';
import { addEnvironment, addRoute, uniqueEnvironment } from '../../test/configuration.ts';
import { readConfiguration } from '../configuration/store/configuration-rows.ts';
import { markPublished } from '../publish/store/publications.ts';
import { openTestStore, type TestStore } from '../../test/store.ts';
import {
  deleteOldVersions,
  revokeExpired,
  startRetention,
  type RetentionOptions,
} from './retention.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const TODAY = Date.UTC(2030, 5, 15);
const log = createLogger('test', 'silent');
const never = new AbortController().signal;

let store: TestStore;
beforeEach(async () => void (store = await openTestStore()));
afterEach(() => store.close());

function optionsAt(clock: Clock): RetentionOptions {
  const newId = createIdFactory(() => clock.nowMs());
  return { db: store.db, clock, log, newId, historyDays: 90 };
}

describe('the hourly cleanup', () => {
  it('deletes old versions and their changes, but never the newest version', async () => {
    const clock = manualClock(TODAY);
    const options = optionsAt(clock);
    const environment = uniqueEnvironment();
    await addEnvironment(store.db, environment);
    const publish = async (version: number, atMs: number) => {
      const { pendingIds = [] } = (await readConfiguration(store.db, environment)) ?? {};
      await markPublished(store.db, environment, { version, why: 'changed' }, pendingIds);
      await store.db
        .updateTable('config_versions')
        .set({ published_at: new Date(atMs) })
        .where('version', '=', version)
        .execute();
    };
    for (const [version, days] of [91, 89, 1].entries()) {
      await addRoute(store.db, environment, `r${version}`);
      await publish(version + 1, TODAY - days * DAY_MS);
    }
    const kept = async () => {
      const versions = await store.db.selectFrom('config_versions').select('version').execute();
      const query = store.db.selectFrom('config_outbox').select('published_version as version');
      const made = await query.where('environment', '=', environment).distinct().execute();
      const sorted = (rows: readonly { version: number | null }[]) =>
        rows.map(({ version }) => version).sort();
      return [sorted(versions), sorted(made)];
    };
    await deleteOldVersions(options, never);
    expect(await kept()).toEqual([
      [2, 3],
      [2, 3],
    ]);
    clock.advance(400 * DAY_MS);
    await deleteOldVersions(options, never);
    expect(await kept()).toEqual([[3], [3]]);
  });

  it('revokes a token a week after its expiry, so it leaves the snapshots and its name is free', async () => {
    const clock = manualClock(TODAY);
    const options = optionsAt(clock);
    const newId = createIdFactory(() => clock.nowMs());
    const environment = uniqueEnvironment();
    await addEnvironment(store.db, environment);
    const token = () => ({
      id: newId('tok'),
      name: 'brief',
      environments: [environment],
      routes: ['*'],
      scopes: ['proxy'],
      secret_sha256: randomBytes(32),
      expires_at: new Date(clock.nowMs()),
      created_by: null,
    });
    const served = async () => (await readConfiguration(store.db, environment))?.rows.tokens.length;
    await createToken(store.db, token(), ownOrigin(newId));
    clock.advance(7 * DAY_MS);
    await revokeExpired(options, never);
    expect(await served()).toBe(1);
    clock.advance(1);
    await revokeExpired(options, never);
    expect(await served()).toBe(0);
    const changes = await store.db
      .selectFrom('config_outbox')
      .select(['environment', 'action'])
      .where('kind', '=', 'token')
      .orderBy('id')
      .execute();
    expect(changes).toEqual([
      { environment, action: 'token.created' },
      { environment, action: 'token.revoked' },
    ]);
    await createToken(store.db, token(), ownOrigin(newId));
  });

  it('revokes many expired tokens together, each with its outbox row and its audit event', async () => {
    const clock = manualClock(TODAY);
    const newId = createIdFactory(() => clock.nowMs());
    const environments = [uniqueEnvironment(), uniqueEnvironment()];
    for (const environment of environments) await addEnvironment(store.db, environment);
    const ids = ['a', 'b', 'c'].map((name) => ({ name, id: newId('tok') }));
    for (const { id, name } of ids) {
      const token = { id, name, environments, routes: ['*'], scopes: ['proxy'], created_by: null };
      const secret = { secret_sha256: randomBytes(32), expires_at: new Date(clock.nowMs()) };
      await createToken(store.db, { ...token, ...secret }, ownOrigin(newId));
    }
    clock.advance(8 * DAY_MS);
    await revokeExpired(optionsAt(clock), never);
    const revoked = await store.db
      .selectFrom('tokens')
      .select(['id', 'updated_at'])
      .where('revoked_at', '=', (eb) => eb.ref('updated_at'))
      .orderBy('id')
      .execute();
    expect(revoked.map(({ id }) => id)).toEqual(ids.map(({ id }) => id).sort());
    const outbox = await store.db
      .selectFrom('config_outbox')
      .select('entity_id')
      .where('action', '=', 'token.revoked')
      .execute();
    expect(outbox).toHaveLength(ids.length * environments.length);
    const within = { environments: ['*'], routes: ['*'], scopes: ['*'] };
    const query = { within, sinceMs: 0, limit: 10, action: 'token.revoked' };
    const { rows: events } = await listAuditEvents(store.db, query);
    expect(new Set(events.map(({ id }) => id)).size).toBe(ids.length);
    const shown = events.map((event) => [event.resource_id, new Date(event.occurredAtMs)]);
    expect(shown.sort()).toEqual(revoked.map(({ id, updated_at }) => [id, updated_at]));
    expect(events.map(({ token_id, after }) => [token_id, after])).toEqual(
      ids.map(() => [null, null]),
    );
  });

  it('logs which part failed, and runs the others', async () => {
    const clock = manualClock(TODAY);
    const options = optionsAt(clock);
    const error = jest.spyOn(options.log, 'error');
    await sql`DROP TABLE config_versions CASCADE`.execute(store.db);
    const retention = startRetention(options);
    const phrases = () => error.mock.calls.map((call: unknown[]) => call[1]);
    await eventually(() =>
      expect(phrases()).toEqual(['deletion of old versions failed; retrying in an hour']),
    );
    await sql`DROP TABLE audit_events CASCADE`.execute(store.db);
    await eventually(() => {
      clock.advance(60_000);
      expect(phrases()).toContain('partition maintenance failed; retrying in a minute');
    });
    await retention.stop();
    error.mockRestore();
    expect(await listPartitions(store.db, REQUEST_RECORDS)).not.toEqual([]);
  });
});
