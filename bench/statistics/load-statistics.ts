import type pg from 'pg';

const DAY_MS = 24 * 60 * 60 * 1000;
const BUCKETS = 84;
/** The buckets that durations fall into: 3 ms to half a second. */
const FIRST_BUCKET = 10;
const USED_BUCKETS = 30;
const VERSIONS = 2;

/** What requests to one version of a route come to, and their part of all. */
const RESULTS = [
  { statusClass: 2, outcome: 'success', part: 0.9 },
  { statusClass: 4, outcome: 'success', part: 0.05 },
  { statusClass: 4, outcome: 'rejected', part: 0.04 },
  { statusClass: 5, outcome: 'upstream_error', part: 0.007 },
  { statusClass: 5, outcome: 'timeout', part: 0.003 },
] as const;

const columns = Array.from({ length: BUCKETS }, (_, index) => `d${index}`);
const sums = columns.map((name) => `sum(${name})`).join(', ');

/** Creates the series of so many routes, each with the requests that it has in a minute on average. Returns their number. */
export async function loadSeries(
  client: pg.Client,
  routes: number,
  requestsPerMinute: number,
): Promise<number> {
  const results = RESULTS.map(({ statusClass, outcome, part }) => {
    return `(${statusClass}, '${outcome}', ${part})`;
  });
  await client.query('CREATE TABLE made_series (id bigint, mean float8)');
  const { rowCount } = await client.query(`
    WITH made AS (
      SELECT row_number() OVER () AS id, route, version, status_class, outcome, part
      FROM generate_series(1, ${routes}) AS route, generate_series(1, ${VERSIONS}) AS version,
        (VALUES ${results.join(', ')}) AS results (status_class, outcome, part)
    ), stored AS (
      INSERT INTO statistics_series
      SELECT id, 'production', 'route-' || route, 'v' || version, 'svc_' || route || '_' || version,
        status_class, outcome
      FROM made
    )
    INSERT INTO made_series SELECT id, part * ${requestsPerMinute / routes / VERSIONS} FROM made`);
  return rowCount ?? 0;
}

/**
 * Inserts the sums of a day by minute, as the ingest of records would leave them, and those of longer periods from them.
 *
 * @returns how many records they are the sums of
 */
export async function loadDay(client: pg.Client, dayMs: number): Promise<number> {
  const from = new Date(dayMs).toISOString();
  const to = new Date(dayMs + DAY_MS).toISOString();
  const used = Array.from({ length: USED_BUCKETS }, (_, index) => `d${FIRST_BUCKET + index}`);
  // Most durations are near the lower end; the remainders are rounded at random, so that the mean is kept.
  const weights = used.map((_, index) => Math.exp(-index / 6));
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  const counts = weights.map((weight) => `nullif(floor(mean * ${weight / whole} + random()), 0)`);
  await client.query(`
    INSERT INTO request_statistics (bucket_at, resolution, series, requests, ${used.join(', ')})
    SELECT bucket_at, 60, id, ${used.map((name) => `coalesce(${name}, 0)`).join(' + ')}, ${used.join(', ')}
    FROM (
      SELECT bucket_at, id, ${counts.map((count, index) => `${count}::float8 AS ${used[index]}`).join(', ')}
      FROM generate_series('${from}'::timestamptz, '${to}'::timestamptz - interval '1 minute', '1 minute') AS bucket_at
      CROSS JOIN made_series
    ) AS made WHERE num_nonnulls(${used.join(', ')}) > 0`);
  for (const [resolution, finer] of [
    [900, 60],
    [3600, 900],
    [21_600, 3600],
    [86_400, 21_600],
  ]) {
    await client.query(`
      INSERT INTO request_statistics (bucket_at, resolution, series, requests, ${columns.join(', ')})
      SELECT date_bin('${resolution} seconds', bucket_at, '${from}'), ${resolution}, series, sum(requests), ${sums}
      FROM request_statistics
      WHERE resolution = ${finer} AND bucket_at >= '${from}' AND bucket_at < '${to}'
      GROUP BY 1, 3`);
  }
  const { rows } = await client.query<{ requests: string }>(`
    SELECT sum(requests) AS requests FROM request_statistics
    WHERE resolution = 86400 AND bucket_at = '${from}'`);
  return Number(rows[0]?.requests);
}
