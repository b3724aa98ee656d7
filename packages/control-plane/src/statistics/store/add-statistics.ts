import { hash } from 'node:crypto';
import { sql } from 'kysely';
import { DURATION_BUCKETS, durationBucket } from '../duration-histogram.ts';
import { bucketStart, RESOLUTIONS } from '../statistics-segments.ts';
import type { Database } from '../../store/database.ts';
import { float8Array, textArray } from '../../store/binary-array.ts';

/** The part of a record that is counted. */
export interface CountedRecord {
  readonly receivedAtMs: number;
  readonly environment: string | null;
  readonly route: string | null;
  readonly version: string | null;
  readonly serviceId: string | null;
  readonly status: number | null;
  /** null: no gRPC call, or no status came. */
  readonly grpcStatus: number | null;
  readonly outcome: string;
  /** The version of the configuration that served it. */
  readonly configVersion: number | null;
  /** From the arrival of the request to its end. */
  readonly durationMs: number;
}

interface Series {
  readonly id: string;
  readonly environment: string | null;
  /** Null: the first environment of the name, or a deleted one. */
  readonly environmentId: string | null;
  readonly route: string | null;
  readonly version: string | null;
  readonly serviceId: string | null;
  /** The first digit of the status; null: there was no response. */
  readonly statusClass: number | null;
  /** Whether it was answered with 429, which a class does not tell. */
  readonly isLimited: boolean;
  readonly grpcStatus: number | null;
  readonly outcome: string;
}

interface Sum {
  readonly series: Series;
  readonly resolution: number;
  readonly bucketMs: number;
  requests: number;
  /** By bucket of the histogram. */
  readonly durations: Map<number, number>;
}

/**
 * Adds records to the statistics, in the transaction that stores them. Anybody can send requests to routes that do not
 * exist, so these count under no route: otherwise there would be as many series as names.
 *
 * What an environment served whose name another one had before counts under its id. The version tells which of them served
 * a request, however late its record is.
 */
export async function addStatistics(
  transaction: Database,
  records: readonly CountedRecord[],
): Promise<void> {
  if (records.length === 0) return;
  const known = await knownRoutes(transaction, records);
  const sums = sumsOf(
    records.map((record) => (isKnown(record, known) ? record : unrouted(record))),
    await recreatedEnvironments(transaction),
  );
  // Writers change rows in the same order, so that they cannot deadlock.
  sums.sort(byKey);
  await addSeries(transaction, sums);
  await addSums(transaction, sums);
}

/** The status of a request over a quota or another limit. */
const LIMITED = 429;

const BUCKET_INDICES = Array.from({ length: DURATION_BUCKETS }, (_, index) => index);

function sumsOf(
  records: readonly CountedRecord[],
  recreated: ReadonlyMap<string, RecreatedEnvironment>,
): Sum[] {
  const sums = new Map<string, Sum>();
  const seriesByKey = new Map<string, Series>();
  for (const record of records) {
    const series = seriesOf(record, recreated, seriesByKey);
    const duration = durationBucket(record.durationMs);
    for (const resolution of RESOLUTIONS) {
      const bucketMs = bucketStart(record.receivedAtMs, resolution);
      const key = `${resolution} ${bucketMs} ${series.id}`;
      let sum = sums.get(key);
      if (sum === undefined) {
        sum = { series, resolution, bucketMs, requests: 0, durations: new Map() };
        sums.set(key, sum);
      }
      sum.requests += 1;
      sum.durations.set(duration, (sum.durations.get(duration) ?? 0) + 1);
    }
  }
  return [...sums.values()];
}

function seriesOf(
  record: CountedRecord,
  recreated: ReadonlyMap<string, RecreatedEnvironment>,
  known: Map<string, Series>,
): Series {
  const { environment, route, version, serviceId, status, grpcStatus, outcome } = record;
  const statusClass = status === null ? null : Math.floor(status / 100);
  const isLimited = status === LIMITED;
  const environmentId = environmentIdOf(record, recreated);
  const key = JSON.stringify([
    ...[environment, route, version, serviceId, statusClass, outcome],
    ...(environmentId === null ? [] : [environmentId]),
    // Ids of environments are texts, so the keys differ.
    ...(grpcStatus === null ? [] : [grpcStatus]),
    ...(isLimited ? [true] : []),
  ]);
  let series = known.get(key);
  if (series === undefined) {
    const id = hash('sha256', key, 'buffer').readBigInt64BE(0).toString();
    const of = { environment, environmentId, route, version, serviceId };
    series = { id, ...of, statusClass, isLimited, grpcStatus, outcome };
    known.set(key, series);
  }
  return series;
}

interface RecreatedEnvironment {
  readonly name: string;
  readonly id: string;
  readonly firstVersion: number;
}

/** The environments whose name another one had before, by name. */
async function recreatedEnvironments(
  transaction: Database,
): Promise<ReadonlyMap<string, RecreatedEnvironment>> {
  const { rows } = await sql<RecreatedEnvironment>`
    SELECT name, id, first_version::float8 AS "firstVersion" FROM environments
    WHERE recreated AND unplaced_from IS NULL AND first_version IS NOT NULL
  `.execute(transaction);
  return new Map(rows.map((row) => [row.name, row]));
}

function environmentIdOf(
  { environment, configVersion }: CountedRecord,
  recreated: ReadonlyMap<string, RecreatedEnvironment>,
): string | null {
  const found = recreated.get(environment ?? '');
  if (found === undefined || configVersion === null) return null;
  return configVersion >= found.firstVersion ? found.id : null;
}

function byKey(a: Sum, b: Sum): number {
  if (a.resolution !== b.resolution) return a.resolution - b.resolution;
  if (a.bucketMs !== b.bucketMs) return a.bucketMs - b.bucketMs;
  return a.series.id < b.series.id ? -1 : 1;
}

/** A request that has a service has reached a route, so only the others are looked up. */
async function knownRoutes(
  transaction: Database,
  records: readonly CountedRecord[],
): Promise<ReadonlySet<string>> {
  const asked = new Map<string, CountedRecord>();
  for (const record of records) {
    if (record.serviceId === null && record.route !== null && record.environment !== null) {
      asked.set(routeKey(record), record);
    }
  }
  if (asked.size === 0) return new Set();
  const named = [...asked.values()];
  const { rows } = await sql<{ environment: string; name: string }>`
    SELECT environment, name FROM routes WHERE (environment, name) IN (
      SELECT * FROM unnest(
        ${textArray(named.map(({ environment }) => environment))}::text[],
        ${textArray(named.map(({ route }) => route))}::text[]
      )
    )
  `.execute(transaction);
  return new Set(rows.map(({ environment, name }) => routeKey({ environment, route: name })));
}

function isKnown(record: CountedRecord, known: ReadonlySet<string>): boolean {
  return record.serviceId !== null || known.has(routeKey(record));
}

function unrouted(record: CountedRecord): CountedRecord {
  return record.route === null ? record : { ...record, route: null };
}

function routeKey({ environment, route }: Pick<CountedRecord, 'environment' | 'route'>): string {
  return `${environment ?? ''} ${route ?? ''}`;
}

async function addSeries(transaction: Database, sums: readonly Sum[]): Promise<void> {
  const all = [...new Map(sums.map(({ series }) => [series.id, series])).values()];
  const sorted = all.sort((a, b) => (a.id < b.id ? -1 : 1));
  await sql`
    INSERT INTO statistics_series
      (id, environment, environment_id, route, version, service_id, status_class, is_limited, grpc_status, outcome)
    SELECT
      id::bigint, environment, environment_id, route, version, service_id, status_class::smallint,
      is_limited = 1, grpc_status::smallint, outcome
    FROM unnest(
      ${textArray(sorted.map(({ id }) => id))}::text[],
      ${textArray(sorted.map(({ environment }) => environment))}::text[],
      ${textArray(sorted.map(({ environmentId }) => environmentId))}::text[],
      ${textArray(sorted.map(({ route }) => route))}::text[],
      ${textArray(sorted.map(({ version }) => version))}::text[],
      ${textArray(sorted.map(({ serviceId }) => serviceId))}::text[],
      ${float8Array(sorted.map(({ statusClass }) => statusClass))}::float8[],
      ${float8Array(sorted.map(({ isLimited }) => (isLimited ? 1 : 0)))}::float8[],
      ${float8Array(sorted.map(({ grpcStatus }) => grpcStatus))}::float8[],
      ${textArray(sorted.map(({ outcome }) => outcome))}::text[]
    ) AS s (
      id, environment, environment_id, route, version, service_id, status_class, is_limited, grpc_status,
      outcome
    )
    ON CONFLICT (id) DO NOTHING
  `.execute(transaction);
}

/** The statement is the same for all batches, so its text is made once. */
const COLUMNS = sql.raw(BUCKET_INDICES.map((index) => `d${index}`).join(', '));
const VALUES = sql.raw(BUCKET_INDICES.map((index) => `h[${index + 1}]`).join(', '));
const ADDED = sql.raw(
  BUCKET_INDICES.map(
    (index) =>
      `d${index} = coalesce(s.d${index} + excluded.d${index}, s.d${index}, excluded.d${index})`,
  ).join(', '),
);

async function addSums(transaction: Database, sums: readonly Sum[]): Promise<void> {
  await sql`
    INSERT INTO request_statistics AS s (bucket_at, resolution, series, requests, ${COLUMNS})
    SELECT to_timestamp(bucket_ms / 1000), resolution::integer, series, requests::bigint, ${VALUES}
    FROM (
      SELECT bucket_ms, resolution, series::bigint, requests, durations::float8[] AS h
      FROM unnest(
        ${float8Array(sums.map(({ bucketMs }) => bucketMs))}::float8[],
        ${float8Array(sums.map(({ resolution }) => resolution))}::float8[],
        ${textArray(sums.map(({ series }) => series.id))}::text[],
        ${float8Array(sums.map(({ requests }) => requests))}::float8[],
        ${textArray(sums.map(arrayOf))}::text[]
      ) AS u (bucket_ms, resolution, series, requests, durations)
      -- Keeps the two queries apart: merged, Postgres would parse an array again for each of its buckets.
      OFFSET 0
    ) AS counted
    ON CONFLICT (resolution, series, bucket_at)
    DO UPDATE SET requests = s.requests + excluded.requests, ${ADDED}
  `.execute(transaction);
}

function arrayOf({ durations }: Sum): string {
  return `{${BUCKET_INDICES.map((index) => durations.get(index) ?? 'NULL').join(',')}}`;
}
