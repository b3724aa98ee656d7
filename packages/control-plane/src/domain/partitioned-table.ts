import { RECORD_RETENTION_DAYS } from '@gateway/shared/records/record';
import { AUDIT_RETENTION_DAYS } from './audit-event.ts';
import type { Period } from './period.ts';

/** A table that is kept in partitions by time, so that what is past its retention is dropped whole. */
export interface PartitionedTable {
  readonly name: 'request_records' | 'audit_events';
  /** The column that says in which partition a row is. */
  readonly time: 'received_at' | 'occurred_at';
  readonly period: Period;
  /** Partitions exist for the periods of so many days before now, as far as rows may be dated back. */
  readonly behind: number;
  /** And for the periods of so many days from now on. */
  readonly ahead: number;
  readonly retentionDays: number;
}

/** Records that are dated farther ahead than this are refused. */
export const MAX_DAYS_AHEAD = 30;

export const REQUEST_RECORDS: PartitionedTable = {
  name: 'request_records',
  time: 'received_at',
  period: 'day',
  // A data plane may deliver records late, from its spool, and its clock may be ahead.
  behind: RECORD_RETENTION_DAYS,
  ahead: MAX_DAYS_AHEAD,
  retentionDays: RECORD_RETENTION_DAYS,
};

/** By the month: with a partition for each of 400 days every list would search 400 tables. */
export const AUDIT_EVENTS: PartitionedTable = {
  name: 'audit_events',
  time: 'occurred_at',
  period: 'month',
  behind: 0,
  ahead: 31,
  retentionDays: AUDIT_RETENTION_DAYS,
};
