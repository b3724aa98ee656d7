import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { RECORD_DOCUMENTS } from '@gateway/control-plane/requests/record-document';
import { choice, command, whole } from '../command.ts';
import { log } from '../lab/log.ts';
import { startScript } from '../lab/script.ts';
import { startStack } from '../lab/stack.ts';
import { withClient } from '../lab/with-client.ts';
import { usageOf } from '../measure/process-tree.ts';
import { readMetrics } from '../measure/prometheus.ts';
import { median } from '../measure/statistics.ts';
import type { PublisherReport } from './publisher-process.ts';

const SAMPLE_MS = 1000;
/** How long after the last record was made all must be stored. */
const MAX_DRAIN_MS = 120_000;
/** Samples that the lag at the start leaves out, and samples that each median takes. */
const WARM_UP_SAMPLES = 5;
const LAG_SAMPLES = 10;
/** The lag may grow by as many records as are made in this time, and may reach that many. */
const MAX_GROWTH_SECONDS = 0.5;
const MAX_LAG_SECONDS = 2;

/** What was made and stored at one point in time. */
interface Sample {
  readonly atMs: number;
  readonly made: number;
  readonly stored: number;
}

/**
 * Measures how many request records a second the real control plane moves from the stream into a Postgres of this run,
 * and what each costs. Sets exit code 1 if it does not keep up with the rate.
 */
export const ingest = command({
  name: 'ingest',
  summary: 'request records a second that the control plane stores in Postgres',
  options: {
    rate: whole(20_000, [1, 200_000], 'records a second'),
    seconds: whole(60, [1, 600], 'for how long'),
    dataPlanes: whole(4, [1, 200], 'senders'),
    documents: choice(RECORD_DOCUMENTS, 'named', 'as RECORD_DOCUMENTS of the control plane'),
  },
  async run(run, { rate, seconds, dataPlanes, documents }) {
    const { signal } = run;
    const { stack, controlPlane } = await startStack(run, {
      postgres: 'durable',
      env: { RECORD_DOCUMENTS: documents },
    });
    const order = { natsUrl: stack.natsUrl, dataPlanes, rate, seconds };
    const script = new URL('publisher-process.ts', import.meta.url);
    const { child: publisher } = startScript(run, script, order);
    const ended = once(publisher, 'exit');
    let report: PublisherReport = { made: 0, bytes: 0, sent: 0, messages: 0, failures: 0 };
    publisher.on('message', (message) => (report = message as PublisherReport));
    const sample = async (): Promise<Sample> => {
      const read = await readMetrics(controlPlane.adminUrl);
      const stored = read('gateway_control_plane_ingest_records_total');
      log(`${stored} records stored, lag ${report.made - stored}`);
      return { atMs: performance.now(), made: report.made, stored };
    };
    while (report.made === 0 && publisher.exitCode === null) {
      await delay(10, undefined, { signal });
    }
    const measured = { 'control plane': controlPlane, Postgres: stack.postgres, NATS: stack.nats };
    const cpuUs = () => Object.values(measured).map((one) => usageOf(one?.pid ?? NaN).cpuUs);
    const cpuBefore = cpuUs();
    const first = await sample();
    const samples = [first];
    const endMs = first.atMs + seconds * 1000;
    while (performance.now() < endMs) {
      await delay(Math.min(SAMPLE_MS, endMs - performance.now()), undefined, { signal });
      samples.push(await sample());
    }
    const last = samples.at(-1) ?? first;
    let end = last;
    while (publisher.exitCode === null || end.stored < report.made) {
      if (end.atMs > last.atMs + MAX_DRAIN_MS)
        throw new Error('not every record was stored in time');
      await delay(50, undefined, { signal });
      end = await sample();
    }
    await ended;
    const cpuAfter = cpuUs();
    const lagOf = (some: readonly Sample[]) =>
      Math.round(median(some.map(({ made, stored }) => made - stored)));
    const early = lagOf(samples.slice(WARM_UP_SAMPLES, WARM_UP_SAMPLES + LAG_SAMPLES));
    const late = lagOf(samples.slice(-LAG_SAMPLES));
    const grew = late - early > rate * MAX_GROWTH_SECONDS || late > rate * MAX_LAG_SECONDS;
    const size = await withClient(stack.databaseUrl, run, (client) =>
      client.query<Readonly<Record<'rows' | 'heap' | 'indexes' | 'wal', number>>>(`
        SELECT (SELECT count(*)::float8 FROM request_records) AS rows,
          sum(pg_table_size(inhrelid))::float8 AS heap, sum(pg_indexes_size(inhrelid))::float8 AS indexes,
          (pg_current_wal_lsn() - '0/0')::float8 AS wal
        FROM pg_inherits WHERE inhparent = 'request_records'::regclass`),
    );
    const { rows = 0, heap = 0, indexes = 0, wal = 0 } = size.rows[0] ?? {};
    const { made, sent, bytes, messages, failures } = report;
    const perRow = (total: number) => (total / Math.max(1, rows)).toFixed(0);
    const perSecond = (of: 'made' | 'stored') =>
      `${(((last[of] - first[of]) * 1000) / (last.atMs - first.atMs)).toFixed(0)}/s`;
    const cpu = Object.keys(measured).map((name, at) => {
      const spentUs = (cpuAfter[at] ?? NaN) - (cpuBefore[at] ?? NaN);
      return `CPU of ${name}: ${(spentUs / Math.max(1, end.stored - first.stored)).toFixed(1)} µs/record`;
    });
    const lines = [
      `made ${made}, sent ${sent}, in Postgres ${rows}, failed sends ${failures}`,
      `rate: ${perSecond('made')} made, ${perSecond('stored')} stored meanwhile`,
      `all records were stored ${((end.atMs - last.atMs) / 1000).toFixed(1)} s after the last was made`,
      `lag, records: median ${early} after the warm-up, ${late} at the end`,
      ...cpu,
      `NATS: ${(bytes / made).toFixed(0)} bytes/record, ${(made / messages).toFixed(0)} records/message`,
      `Postgres, bytes/record: ${perRow(heap)} in tables, ${perRow(indexes)} in indexes, ${perRow(wal)} in the WAL`,
      grew
        ? 'the lag grew: this machine cannot keep up with this rate now'
        : 'the lag did not grow',
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
    if (rows !== made) throw new Error('not every record is stored exactly once');
    if (grew) process.exitCode = 1;
  },
});
