import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Clock } from '@gateway/shared/clock';
import { createIdFactory } from '@gateway/shared/ids';
import { Registry } from 'prom-client';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { AUDIT_EVENTS, REQUEST_RECORDS, REQUEST_STATISTICS } from './partitioned-table.ts';
import { listAuditEvents } from '../audit/store/audit-events.ts';
import { dropPartition, listPartitions, listDefaultPeriods } from './store/partitions.ts';
import { insertRecords, listRecords } from '../requests/store/records.ts';
import { requestRecord } from '@gateway/shared/test/request-record';
import { addAuditEvent } from '../../test/audit.ts';
import { openTestStore, type TestStore } from '../../test/store.ts';
import { createPartitionMetrics } from './partition-metrics.ts';
import { runRetention } from '../../test/run-retention.ts';
import { startRetention, type RetentionOptions } from './retention.ts';
import { storableRecord } from '../requests/ingest/storable-record.ts';

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

function optionsAt(clock: Clock): RetentionOptions {
  const newId = createIdFactory(() => clock.nowMs());
  return { db: store.db, clock, log, newId, historyDays: 90 };
}

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
  it('keeps a record for 30 days and at most one day longer', async () => {
    const clock = manualClock(TODAY);
    const options = optionsAt(clock);
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

  it('creates missing partitions, and deletes old rows in DEFAULT', async () => {
    await insert(TODAY - 40 * DAY_MS, TODAY - 29 * DAY_MS, TODAY - DAY_MS, TODAY);
    await runRetention(optionsAt(manualClock(TODAY)), never);
    expect(await times()).toEqual([TODAY, TODAY - DAY_MS, TODAY - 29 * DAY_MS]);
    expect(await listPartitions(store.db, REQUEST_RECORDS)).toEqual(daysAround(TODAY));
  });

  it('keeps the statistics in the same partitions as the records', async () => {
    const clock = manualClock(TODAY);
    await insert(TODAY - DAY_MS, TODAY);
    await runRetention(optionsAt(clock), never);
    expect(await listPartitions(store.db, REQUEST_STATISTICS)).toEqual(daysAround(TODAY));
    expect(await listDefaultPeriods(store.db, REQUEST_STATISTICS)).toEqual([]);
    clock.advance(31 * DAY_MS);
    await runRetention(optionsAt(clock), never);
    expect(await listPartitions(store.db, REQUEST_STATISTICS)).not.toContain(TODAY);
  });

  it('counts partitions that were missing when their rows arrived', async () => {
    const registry = new Registry();
    const metrics = createPartitionMetrics(registry);
    const options = { ...optionsAt(manualClock(TODAY)), metrics };
    await runRetention(options, never);
    expect(await registry.metrics()).not.toMatch(/late_partitions_total{.*} [1-9]/);
    await dropPartition(store.db, REQUEST_RECORDS, TODAY);
    await dropPartition(store.db, REQUEST_RECORDS, TODAY + DAY_MS);
    await insert(TODAY, TODAY + DAY_MS, TODAY + DAY_MS + 1);
    await runRetention(options, never);
    const told = await registry.metrics();
    expect(told).toContain('late_partitions_total{table="request_records"} 2');
    expect(told).toContain('missing_partitions{table="request_records"} 0');
    expect(await listDefaultPeriods(store.db, REQUEST_RECORDS)).toEqual([]);
    expect(await times()).toEqual([TODAY + DAY_MS + 1, TODAY + DAY_MS, TODAY]);
  });

  it('keeps an audit event for 400 days and at most one month longer', async () => {
    const clock = manualClock(TODAY);
    const options = optionsAt(clock);
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

  it('can run in several replicas at once', async () => {
    await insert(TODAY, TODAY + DAY_MS);
    const options = optionsAt(systemTimers(TODAY));
    await Promise.all([1, 2, 3].map(() => runRetention(options, never)));
    expect(await listPartitions(store.db, REQUEST_RECORDS)).toEqual(daysAround(TODAY));
    expect(await times()).toEqual([TODAY + DAY_MS, TODAY]);
  });

  it('runs at the start and every minute', async () => {
    const clock = manualClock(TODAY + DAY_MS - 1);
    const retention = startRetention(optionsAt(clock));
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

/** A clock whose wall time stands still, with real timers. */
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
