/**
 * Every name of ours on NATS: subjects, streams, KV and object-store buckets, durable consumers.
 * All of them stand in this one file.
 */
export const NAMES = {
  /** KV: environment → pointer to its newest snapshot. */
  configBucket: 'gateway_config',
  /** Object store: the snapshots themselves. */
  snapshotBucket: 'gateway_snapshots',
  /** Stream: what was published of each environment, one entry after the other. */
  configLog: 'GATEWAY_CONFIG_LOG',
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

const CONFIG_LOG_SUBJECT = 'gateway.config.log';

export const CONFIG_LOG_SUBJECTS = `${CONFIG_LOG_SUBJECT}.*`;

/** Where the entries of an environment's log go. Environments are named by a-z, 0-9 and the dash. */
export function configLogSubject(environment: string): string {
  return `${CONFIG_LOG_SUBJECT}.${environment}`;
}

const CONFIG_WANTED_SUBJECT = 'gateway.config.wanted';

export const CONFIG_WANTED_SUBJECTS = `${CONFIG_WANTED_SUBJECT}.*`;

/** Where a data plane asks for a snapshot of an environment, as the log alone does not lead to its newest version. */
export function configWantedSubject(environment: string): string {
  return `${CONFIG_WANTED_SUBJECT}.${environment}`;
}

/** The environment at the end of a subject of the log, or of those that ask for snapshots. */
export function environmentOfSubject(subject: string): string {
  return subject.slice(subject.lastIndexOf('.') + 1);
}

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

/** Hexadecimal digits that tell one attempt to publish a version from another. */
export const ATTEMPT_DIGITS = 16;

/**
 * The name of the object of one attempt to publish a version. The nonce keeps two publishers, of
 * which one has lost its lock, from writing over each other's object.
 *
 * @param entryId the log's entry that made this version, where the snapshot holds nothing new
 */
export function attemptObject(
  environment: string,
  version: number,
  nonce: string,
  entryId = '',
): string {
  return `${snapshotObject(environment, version)}.${entryId}${nonce}`;
}

const CONTENT_OF_ENTRY = new RegExp(`\\.([0-9a-f]{${ATTEMPT_DIGITS}})[0-9a-f]{${ATTEMPT_DIGITS}}$`);

/**
 * Which entry of the log a snapshot repeats, by the name of its object; undefined where the snapshot
 * itself made its version.
 */
export function repeatedEntryId(object: string): string | undefined {
  return CONTENT_OF_ENTRY.exec(object)?.[1];
}

/** A text as one token of a subject: what NATS gives a meaning to is replaced. */
function subjectToken(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, '_');
}
