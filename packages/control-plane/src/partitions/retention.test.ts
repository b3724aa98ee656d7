import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createIdFactory } from '@gateway/shared/ids';
import { Registry } from 'prom-client';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { AUDIT_EVENTS, REQUEST_RECORDS } from '../domain/partitioned-table.ts';
import { ownOrigin } from '../domain/audit-event.ts';
import { createToken } from '../store/configuration/tokens.ts';
import { listAuditEvents } from '../store/configuration/audit-events.ts';
import { dropPartition, listPartitions, listStrayPeriods } from '../store/partitions/partitions.ts';
import { insertRecords, listRecords } from '../store/records/records.ts';
import { addEnvironment, addRoute, uniqueEnvironment } from '../../test/configuration.ts';
import { requestRecord } from '@gateway/shared/test/request-record';
import { readConfiguration } from '../store/configuration/configuration-rows.ts';
import { markPublished } from '../store/publication/publications.ts';
import { addAuditEvent } from '../../test/audit.ts';
import { openTestStore, type TestStore } from '../../test/store.ts';
import { createPartitionMetrics } from './partition-metrics.ts';
import { runRetention, startRetention } from './retention.ts';
import { storableRecord } from '../ingest/storable-record.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const TODAY = Date.UTC(2030, 5, 15);
const log = createLogger('test', 'silent');
/** The days from 30 days before this one to 30 days after it. */
const daysAround = (day: number) =>
  Array.from({ length: 61 }, (_, index) => day + (index - 30) * DAY_MS);
const never = new AbortController().signal;

let store: TestStore;
beforeEach(async () => void (store = await openTestStore()));
afterEach(() => store.close());

const insert = (...timesMs: readonly number[]) =>
  insertRecords(
    store.db,
    timesMs.map((atMs) => storableRecord(requestRecord(atMs))),
  );

async function times(): Promise<readonly number[]> {
  const everything = { environments: undefined, routes: undefined, sinceMs: 0, limit: 200 };
  return (await listRecords(store.db, everything)).rows.map((record) => record.receivedAtMs);
}

describe('the retention of request records', () => {
  it('keeps a record for 30 days whatever happens, and not much longer', async () => {
    const clock = manualClock(TODAY);
    const options = { db: store.db, clock, log, historyDays: 90 };
    await runRetention(options, never);
    await insert(TODAY, TODAY + DAY_MS - 1);
    clock.advance(31 * DAY_MS - 1);
    await runRetention(options, never);
    expect(await times()).toEqual([TODAY + DAY_MS - 1, TODAY]);
    clock.advance(1);
    await runRetention(options, never);
    expect(await times()).toEqual([]);
    expect(await listPartitions(store.db, REQUEST_RECORDS)).not.toContain(TODAY);
  });

  it('gives the days that were missed their partitions, and forgets strays that are past', async () => {
    await insert(TODAY - 40 * DAY_MS, TODAY - 29 * DAY_MS, TODAY - DAY_MS, TODAY);
    await runRetention({ db: store.db, clock: manualClock(TODAY), log, historyDays: 90 }, never);
    expect(await times()).toEqual([TODAY, TODAY - DAY_MS, TODAY - 29 * DAY_MS]);
    expect(await listPartitions(store.db, REQUEST_RECORDS)).toEqual(daysAround(TODAY));
  });

  it('says which partitions were missing when their rows came, and that none is missing any more', async () => {
    const registry = new Registry();
    const metrics = createPartitionMetrics(registry);
    const options = { db: store.db, clock: manualClock(TODAY), log, metrics, historyDays: 90 };
    await runRetention(options, never);
    expect(await registry.metrics()).not.toMatch(/late_partitions_total{.*} [1-9]/);
    await dropPartition(store.db, REQUEST_RECORDS, TODAY);
    await dropPartition(store.db, REQUEST_RECORDS, TODAY + DAY_MS);
    await insert(TODAY, TODAY + DAY_MS, TODAY + DAY_MS + 1);
    await runRetention(options, never);
    const told = await registry.metrics();
    expect(told).toContain('late_partitions_total{table="request_records"} 2');
    expect(told).toContain('missing_partitions{table="request_records"} 0');
    expect(await listStrayPeriods(store.db, REQUEST_RECORDS)).toEqual([]);
    expect(await times()).toEqual([TODAY + DAY_MS + 1, TODAY + DAY_MS, TODAY]);
  });

  it('keeps an audit event for 400 days whatever happens, and not for another month more', async () => {
    const clock = manualClock(TODAY);
    const options = { db: store.db, clock, log, historyDays: 90 };
    await runRetention(options, never);
    expect(await listPartitions(store.db, AUDIT_EVENTS)).toEqual(
      expect.arrayContaining([Date.UTC(2030, 5), Date.UTC(2030, 6)]),
    );
    const id = await addAuditEvent(store.db, TODAY, {
      action: 'environment.created',
      resourceId: 'x',
      environments: ['x'],
    });
    const ids = async () => {
      const within = { environments: ['*'], routes: ['*'], scopes: ['*'] };
      const events = await listAuditEvents(store.db, { within, sinceMs: 0, limit: 10 });
      return events.rows.map((event) => event.id);
    };
    clock.advance(400 * DAY_MS);
    await runRetention(options, never);
    expect(await ids()).toEqual([id]);
    clock.advance(31 * DAY_MS);
    await runRetention(options, never);
    expect(await ids()).toEqual([]);
    expect(await listPartitions(store.db, AUDIT_EVENTS)).not.toContain(Date.UTC(2030, 5));
  });

  it('keeps versions of a configuration for their days, what they need, and the newest for ever', async () => {
    const clock = manualClock(TODAY);
    const options = { db: store.db, clock, log, historyDays: 90 };
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
    await runRetention(options, never);
    expect(await kept()).toEqual([
      [2, 3],
      [2, 3],
    ]);
    clock.advance(400 * DAY_MS);
    await runRetention(options, never);
    expect(await kept()).toEqual([[3], [3]]);
  });

  it('revokes a token a week after its expiry: it leaves the snapshots and its name is free', async () => {
    const clock = manualClock(TODAY);
    const options = { db: store.db, clock, log, historyDays: 90 };
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
    await runRetention(options, never);
    expect(await served()).toBe(1);
    clock.advance(1);
    await runRetention(options, never);
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

  it('is run by several replicas at once without one failing', async () => {
    await insert(TODAY, TODAY + DAY_MS);
    const options = { db: store.db, clock: systemTimers(TODAY), log, historyDays: 90 };
    await Promise.all([1, 2, 3].map(() => runRetention(options, never)));
    expect(await listPartitions(store.db, REQUEST_RECORDS)).toEqual(daysAround(TODAY));
    expect(await times()).toEqual([TODAY + DAY_MS, TODAY]);
  });

  it('runs at the start and every minute', async () => {
    const clock = manualClock(TODAY + DAY_MS - 1);
    const retention = startRetention({ db: store.db, clock, log, historyDays: 90 });
    await eventually(async () =>
      expect(await listPartitions(store.db, REQUEST_RECORDS)).toEqual(daysAround(TODAY)),
    );
    await eventually(async () => {
      clock.advance(10 * 1000);
      const days = daysAround(TODAY + DAY_MS);
      expect(await listPartitions(store.db, REQUEST_RECORDS)).toEqual(days);
    });
    expect(clock.nowMs()).toBeLessThan(TODAY + 2 * DAY_MS);
    await retention.stop();
  });
});

/** A clock that stands at a time, with timers that run. */
function systemTimers(nowMs: number) {
  return {
    nowMs: () => nowMs,
    monotonicMs: () => performance.now(),
    setTimer: (delayMs: number, callback: () => void) => {
      const handle = setTimeout(callback, delayMs);
      return { cancel: () => clearTimeout(handle) };
    },
  };
}
