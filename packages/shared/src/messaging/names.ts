/** All names on NATS: subjects, streams, KV and object-store buckets, durable consumers. */
export const NAMES = {
  /** KV: environment → pointer to its newest snapshot. */
  configBucket: 'gateway_config',
  /** Object store: the snapshots themselves. */
  snapshotBucket: 'gateway_snapshots',
  /** Stream: the published versions of each environment, one entry each. */
  configLog: 'GATEWAY_CONFIG_LOG',
  /** Stream of request records on their way to Postgres. */
  recordStream: 'GATEWAY_RECORDS',
  /** The durable consumer that all control planes share. */
  recordConsumer: 'record_ingest',
  /** KV: data plane → its newest heartbeat. */
  dataPlaneBucket: 'gateway_data_planes',
  /** KV: hash of an idempotency key → its claim, or the encrypted response. */
  idempotencyBucket: 'gateway_idempotency',
  /** KV: hash of a quota's policy and subject → how much of its window is granted. */
  quotaBucket: 'gateway_quotas',
  /** The same for windows up to `SHORT_QUOTA_WINDOW_MS`, which are not kept for a day. */
  shortQuotaBucket: 'gateway_quotas_short',
  /** KV: the data planes that have a share of each quota. */
  quotaFleetBucket: 'gateway_quota_fleet',
} as const;

const CONFIG_LOG_SUBJECT = 'gateway.config.log';

export const CONFIG_LOG_SUBJECTS = `${CONFIG_LOG_SUBJECT}.*`;

/** The subject of the log of an environment. Environment names consist of a-z, 0-9 and the dash. */
export function configLogSubject(environment: string): string {
  return `${CONFIG_LOG_SUBJECT}.${environment}`;
}

const CONFIG_WANTED_SUBJECT = 'gateway.config.wanted';

export const CONFIG_WANTED_SUBJECTS = `${CONFIG_WANTED_SUBJECT}.*`;

/** Where a data plane requests a snapshot of an environment, because it cannot reach the newest version with the log. */
export function configWantedSubject(environment: string): string {
  return `${CONFIG_WANTED_SUBJECT}.${environment}`;
}

/** The environment at the end of a subject of the log or of snapshot requests. */
export function environmentOfSubject(subject: string): string {
  return subject.slice(subject.lastIndexOf('.') + 1);
}

const RECORD_SUBJECT = 'gateway.records';

export const RECORD_SUBJECTS = `${RECORD_SUBJECT}.>`;

/** Where a data plane publishes its batches of request records. */
export function recordSubject(dataPlaneId: string): string {
  return `${RECORD_SUBJECT}.${subjectToken(dataPlaneId)}`;
}

/** The subjects of heartbeats, which are those of their bucket. */
export const HEARTBEAT_SUBJECTS = `$KV.${NAMES.dataPlaneBucket}.*`;

/** The subject of a data plane's heartbeats. Different ids have different subjects. */
export function heartbeatSubject(dataPlaneId: string): string {
  return `$KV.${NAMES.dataPlaneBucket}.${dataPlaneId.replaceAll('.', '=')}`;
}

/** The id of the data plane whose heartbeats have this subject. */
export function heartbeatId(subject: string): string {
  return subject.slice(subject.lastIndexOf('.') + 1).replaceAll('=', '.');
}

/** Quotas with windows up to this length have a bucket of their own. */
export const SHORT_QUOTA_WINDOW_MS = 10 * 60_000;

/** The subject of the quota with this hash (lower-case hex). */
export function quotaSubject(windowMs: number, hash: string): string {
  return `$KV.${quotaBucket(windowMs)}.${hash}`;
}

/** The stream and the subject of the fleet that divides the quotas. */
export const QUOTA_FLEET = {
  stream: `KV_${NAMES.quotaFleetBucket}`,
  subject: `$KV.${NAMES.quotaFleetBucket}.fleet`,
} as const;

/** Where a data plane asks the others what they do not need of a window. */
export const QUOTA_RECALL_SUBJECT = 'gateway.quotas.recall';

/** Where a data plane answers what would happen to a request. Different ids have different subjects. */
export function explainSubject(dataPlaneId: string): string {
  return `gateway.explain.${dataPlaneId.replaceAll('.', '=')}`;
}

/** Where a data plane answers whether it can connect to upstreams. Different ids have different subjects. */
export function connectionTestSubject(dataPlaneId: string): string {
  return `gateway.connection-tests.${dataPlaneId.replaceAll('.', '=')}`;
}

/** The stream of the bucket for windows of this length. */
export function quotaBucketStream(windowMs: number): string {
  return `KV_${quotaBucket(windowMs)}`;
}

/** The bucket for windows of this length. */
export function quotaBucket(windowMs: number): string {
  return windowMs <= SHORT_QUOTA_WINDOW_MS ? NAMES.shortQuotaBucket : NAMES.quotaBucket;
}

/** The name of the object with a version of an environment's snapshot. */
export function snapshotObject(environment: string, version: number): string {
  return `${environment}.${version}`;
}

/** Hexadecimal digits that distinguish attempts to publish the same version. */
export const ATTEMPT_DIGITS = 16;

/**
 * The name of the object of one attempt to publish a version. The nonce prevents that a publisher that lost its lock
 * overwrites the object of another.
 *
 * @param entryId the log entry of this version, if the snapshot repeats what deltas have already published
 */
export function snapshotAttemptName(
  environment: string,
  version: number,
  nonce: string,
  entryId = '',
): string {
  return `${snapshotObject(environment, version)}.${entryId}${nonce}`;
}

const CONTENT_OF_ENTRY = new RegExp(`\\.([0-9a-f]{${ATTEMPT_DIGITS}})[0-9a-f]{${ATTEMPT_DIGITS}}$`);

/**
 * The log entry that a snapshot repeats, from the name of its object; undefined if the snapshot itself published its
 * version.
 */
export function entryIdOfSnapshot(object: string): string | undefined {
  return CONTENT_OF_ENTRY.exec(object)?.[1];
}

/** A text as one token of a subject: characters with a meaning for NATS are replaced. */
function subjectToken(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, '_');
}
