/**
 * Every name of ours on NATS: subjects, streams, KV and object-store buckets, durable consumers.
 * Source: DESIGN section 8, "kv, object store and stream names are one file".
 */
export const NAMES = {
  /** KV: environment → pointer to its newest snapshot. */
  configBucket: 'gateway_config',
  /** Object store: the snapshots themselves. */
  snapshotBucket: 'gateway_snapshots',
  /** Stream of request records on their way to Postgres. */
  recordStream: 'GATEWAY_RECORDS',
  /** The durable consumer that all control planes share. */
  recordConsumer: 'record_ingest',
  /** KV: data plane → its newest heartbeat. */
  dataPlaneBucket: 'gateway_data_planes',
  /** KV: hash of an idempotency key → its claim, or the sealed answer. */
  idempotencyBucket: 'gateway_idempotency',
  /** KV: hash of a quota's policy and subject → what of its window was granted. */
  quotaBucket: 'gateway_quotas',
  /** The same for windows up to `SHORT_QUOTA_WINDOW_MS`, which need not be kept for a day. */
  shortQuotaBucket: 'gateway_quotas_short',
} as const;

const RECORD_SUBJECT = 'gateway.records';

export const RECORD_SUBJECTS = `${RECORD_SUBJECT}.>`;

/** Where a data plane publishes its batches of request records. */
export function recordSubject(dataPlaneId: string): string {
  return `${RECORD_SUBJECT}.${subjectToken(dataPlaneId)}`;
}

/** Where each data plane's heartbeats go: the bucket's own subjects. */
export const HEARTBEAT_SUBJECTS = `$KV.${NAMES.dataPlaneBucket}.*`;

/** The subject of a data plane's heartbeats; no two ids have one in common. */
export function heartbeatSubject(dataPlaneId: string): string {
  return `$KV.${NAMES.dataPlaneBucket}.${dataPlaneId.replaceAll('.', '=')}`;
}

/** The data plane whose heartbeats have this subject. */
export function heartbeatId(subject: string): string {
  return subject.slice(subject.lastIndexOf('.') + 1).replaceAll('=', '.');
}

/** Quotas with windows up to this length have a bucket of their own. */
export const SHORT_QUOTA_WINDOW_MS = 10 * 60_000;

/** Where the quota of this hash (lower-case hex) is counted. */
export function quotaSubject(windowMs: number, hash: string): string {
  return `$KV.${quotaBucket(windowMs)}.${hash}`;
}

/** The stream under the bucket that counts windows of this length. */
export function quotaBucketStream(windowMs: number): string {
  return `KV_${quotaBucket(windowMs)}`;
}

function quotaBucket(windowMs: number): string {
  return windowMs <= SHORT_QUOTA_WINDOW_MS ? NAMES.shortQuotaBucket : NAMES.quotaBucket;
}

/** The object that holds a version of an environment's snapshot. */
export function snapshotObject(environment: string, version: number): string {
  return `${environment}.${version}`;
}

/** A text as one token of a subject: what NATS gives a meaning to is replaced. */
function subjectToken(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, '_');
}
