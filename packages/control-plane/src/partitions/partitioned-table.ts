import { RECORD_RETENTION_DAYS } from '@gateway/shared/records/record-bounds';
import { AUDIT_RETENTION_DAYS } from '../audit/audit-event.ts';
import type { Period } from './period.ts';

/** A table that is partitioned by time, so that retention drops whole partitions. */
export interface PartitionedTable {
  readonly name: 'request_records' | 'request_statistics' | 'audit_events';
  /** The column by which it is partitioned. */
  readonly timeColumn: 'received_at' | 'bucket_at' | 'occurred_at';
  readonly period: Period;
  /** How many days before now have partitions. */
  readonly daysBehind: number;
  /** How many days after now have partitions. */
  readonly daysAhead: number;
  readonly retentionDays: number;
}

/** Records with a later date are refused. */
export const MAX_DAYS_AHEAD = 30;

export const REQUEST_RECORDS: PartitionedTable = {
  name: 'request_records',
  timeColumn: 'received_at',
  period: 'day',
  // A data plane may deliver records late, from its spool, and its clock may be ahead.
  daysBehind: RECORD_RETENTION_DAYS,
  daysAhead: MAX_DAYS_AHEAD,
  retentionDays: RECORD_RETENTION_DAYS,
};

/** They follow the records. */
export const REQUEST_STATISTICS: PartitionedTable = {
  ...REQUEST_RECORDS,
  name: 'request_statistics',
  timeColumn: 'bucket_at',
};

/** Monthly, because with daily partitions every list would search 400 tables. */
export const AUDIT_EVENTS: PartitionedTable = {
  name: 'audit_events',
  timeColumn: 'occurred_at',
  period: 'month',
  daysBehind: 0,
  daysAhead: 31,
  retentionDays: AUDIT_RETENTION_DAYS,
};
