import { RECORD_RETENTION_DAYS } from '@gateway/shared/records/record';
import { AUDIT_RETENTION_DAYS } from './audit-event.ts';
import type { Period } from './period.ts';

/** A table that is kept in partitions by time, so that what is past its retention is dropped whole. */
export interface PartitionedTable {
  readonly name: 'request_records' | 'audit_events';
  /** The column that says in which partition a row is. */
  readonly time: 'received_at' | 'occurred_at';
  readonly period: Period;
  /** How many periods after this one have their partition ready. */
  readonly ahead: number;
  readonly retentionDays: number;
}

export const REQUEST_RECORDS: PartitionedTable = {
  ...{ name: 'request_records', time: 'received_at' },
  ...{ period: 'day', ahead: 3, retentionDays: RECORD_RETENTION_DAYS },
};

/** By the month: a partition for each of 400 days would have every list look through 400 tables. */
export const AUDIT_EVENTS: PartitionedTable = {
  ...{ name: 'audit_events', time: 'occurred_at' },
  ...{ period: 'month', ahead: 1, retentionDays: AUDIT_RETENTION_DAYS },
};
