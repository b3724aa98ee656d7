import type { Run } from '../lab/run.ts';
import { withClient } from '../lab/with-client.ts';
import { median } from '../measure/statistics.ts';
import type { PublisherReport } from './publisher-process.ts';

/** What was made and stored at one point in time. */
export interface Sample {
  readonly atMs: number;
  readonly made: number;
  readonly stored: number;
  /** CPU time so far of each process that takes part, µs. */
  readonly cpuUs: Readonly<Record<string, number>>;
}

export interface IngestRun {
  readonly databaseUrl: string;
  /** Taken while records were made. */
  readonly samples: readonly Sample[];
  /** Taken after every record was stored. */
  readonly end: Sample;
  readonly report: PublisherReport;
  /** Records a second that were asked for. */
  readonly rate: number;
}

/** Samples that the lag at the start leaves out, and samples that each median takes. */
const WARM_UP_SAMPLES = 5;
const LAG_SAMPLES = 10;
/** The lag may grow by as many records as are made in this time, and may reach that many. */
const MAX_GROWTH_SECONDS = 0.5;
const MAX_LAG_SECONDS = 2;

/**
 * Prints rates, lag, CPU time and bytes of a record. Sets exit code 1 if the lag grew.
 *
 * @throws if a record is not stored exactly once
 */
export async function printResult(
  { databaseUrl, samples, end, report, rate }: IngestRun,
  run: Run,
): Promise<void> {
  const [first = end] = samples;
  const last = samples.at(-1) ?? end;
  const seconds = (last.atMs - first.atMs) / 1000;
  const early = medianLag(samples.slice(WARM_UP_SAMPLES, WARM_UP_SAMPLES + LAG_SAMPLES));
  const late = medianLag(samples.slice(-LAG_SAMPLES));
  const size = await storedSize(databaseUrl, run);
  const { made, sent, bytes, messages, failures } = report;
  const perRow = (total: number) => (total / Math.max(1, size.rows)).toFixed(0);
  const perSecond = (count: number) => `${(count / seconds).toFixed(0)}/s`;
  const stored = Math.max(1, end.stored - first.stored);
  const cpu = Object.entries(end.cpuUs).map(([name, cpuUs]) => {
    const each = (cpuUs - (first.cpuUs[name] ?? 0)) / stored;
    return `CPU of ${name}: ${each.toFixed(1)} µs/record`;
  });
  const grew = late - early > rate * MAX_GROWTH_SECONDS || late > rate * MAX_LAG_SECONDS;
  const lines = [
    `made ${made}, sent ${sent}, in Postgres ${size.rows}, failed sends ${failures}`,
    `rate: ${perSecond(made)} made, ${perSecond(last.stored - first.stored)} stored meanwhile`,
    `all records were stored ${((end.atMs - last.atMs) / 1000).toFixed(1)} s after the last was made`,
    `lag, records: median ${early} after the warm-up, ${late} at the end`,
    ...cpu,
    `NATS: ${(bytes / made).toFixed(0)} bytes/record, ${(made / messages).toFixed(0)} records/message`,
    `Postgres, bytes/record: ${perRow(size.heap)} in tables, ${perRow(size.indexes)} in indexes, ${perRow(size.wal)} in the WAL`,
    grew ? 'the lag grew: this machine cannot keep up with this rate now' : 'the lag did not grow',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  if (size.rows !== made) throw new Error('not every record is stored exactly once');
  if (grew) process.exitCode = 1;
}

function medianLag(samples: readonly Sample[]): number {
  return Math.round(median(samples.map(({ made, stored }) => made - stored)));
}

function storedSize(url: string, run: Run) {
  return withClient(url, run, async (client) => {
    const { rows } = await client.query<{
      rows: number;
      heap: number;
      indexes: number;
      wal: number;
    }>(`
      select (select count(*)::float8 from request_records) as rows,
        sum(pg_table_size(inhrelid))::float8 as heap, sum(pg_indexes_size(inhrelid))::float8 as indexes,
        (pg_current_wal_lsn() - '0/0')::float8 as wal
      from pg_inherits where inhparent = 'request_records'::regclass`);
    return rows[0] ?? { rows: 0, heap: 0, indexes: 0, wal: 0 };
  });
}
