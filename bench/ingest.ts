/**
 * How many request records a second the real control plane moves from the stream into Postgres, and what
 * each costs. `node bench/ingest.ts [--rate 20000] [--seconds 60] [--data-planes 4] [--cpu-prof folder]`.
 * A NATS and a Postgres of its own; 127.0.0.1 only; ends by itself.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createPlaneStack, type PlaneStack } from '@gateway/local-stack/test/processes';
import pg from 'pg';
import type { PublisherOrder, PublisherReport } from './ingest/publisher-process.ts';
import { usageOf } from './measure/process-tree.ts';

const SAMPLE_MS = 1000;
const PRINT_EVERY = 5;
/** After the last record was sent. */
const MAX_DRAIN_MS = 120_000;
/** At the end the lag may be this much above that after the warm-up, and so much at all: seconds' worth. */
const MAX_GROWTH_SECONDS = 0.5;
const MAX_LAG_SECONDS = 2;
const WARM_UP_SECONDS = 5;
const publisherProcess = fileURLToPath(new URL('ingest/publisher-process.ts', import.meta.url));

interface Sample {
  readonly atMs: number;
  readonly made: number;
  readonly stored: number;
  /** CPU time so far of each process that takes part, µs. */
  readonly cpuUs: Readonly<Record<string, number>>;
}

const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '20000' },
    seconds: { type: 'string', default: '60' },
    'data-planes': { type: 'string', default: '4' },
    'cpu-prof': { type: 'string' },
  },
});
const rate = Math.min(Number(values.rate), 200_000);
const seconds = Math.min(Number(values.seconds), 600);
const dataPlanes = Math.min(Number(values['data-planes']), 200);

async function storedRecords(adminUrl: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  return Number(/^gateway_control_plane_ingest_records_total (\d+)/m.exec(text)?.[1] ?? 0);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function medianLag(samples: readonly Sample[]): number {
  const lags = samples.map(({ made, stored }) => made - stored).sort((a, b) => a - b);
  return lags[Math.floor(lags.length / 2)] ?? 0;
}

async function measure(stack: PlaneStack): Promise<void> {
  const { postgres, nats } = stack;
  if (postgres === undefined) throw new Error('the Postgres is not of this run');
  const profile = values['cpu-prof'];
  const nodeArgs = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  const controlPlane = await stack.startControlPlane({ nodeArgs });
  const order: PublisherOrder = { natsUrl: nats.url, dataPlanes, recordsPerSecond: rate, seconds };
  const publisher = fork(publisherProcess, [JSON.stringify(order)]);
  const ended = once(publisher, 'exit');
  let report: PublisherReport = { made: 0, bytes: 0, sent: 0, messages: 0, failures: 0 };
  publisher.on('message', (message) => (report = message as PublisherReport));
  const pids = { 'control plane': controlPlane.pid, Postgres: postgres.pid, NATS: nats.pid };
  const sample = async (): Promise<Sample> => {
    const stored = await storedRecords(controlPlane.adminUrl);
    const cpuUs = Object.entries(pids).map(([name, pid]) => [name, usageOf(pid).cpuUs] as const);
    return { atMs: performance.now(), made: report.made, stored, cpuUs: Object.fromEntries(cpuUs) };
  };

  while (report.made === 0 && publisher.exitCode === null) await delay(10);
  const samples = [await sample()];
  const endMs = performance.now() + seconds * 1000;
  while (performance.now() < endMs) {
    await delay(Math.min(SAMPLE_MS, Math.max(1, endMs - performance.now())));
    const now = await sample();
    const before = samples.at(-1) ?? now;
    samples.push(now);
    if (samples.length % PRINT_EVERY !== 0) continue;
    const perSecond = ((now.stored - before.stored) * 1000) / (now.atMs - before.atMs);
    const at = ((now.atMs - (samples[0]?.atMs ?? 0)) / 1000).toFixed(0);
    print(
      `${at.padStart(4)} s: ${perSecond.toFixed(0).padStart(6)} records/s stored, lag ${now.made - now.stored}`,
    );
  }
  const last = await sample();
  samples.push(last);
  const drainEndMs = performance.now() + MAX_DRAIN_MS;
  const drained = async () =>
    publisher.exitCode !== null && (await storedRecords(controlPlane.adminUrl)) >= report.made;
  while (!(await drained())) {
    if (performance.now() > drainEndMs) throw new Error('not everything was stored in time');
    await delay(50);
  }
  await ended;
  const whole = await sample();
  await printResult(stack, samples, whole, report);
}

async function printResult(
  stack: PlaneStack,
  samples: readonly Sample[],
  whole: Sample,
  report: PublisherReport,
): Promise<void> {
  const [first = whole] = samples;
  const last = samples.at(-1) ?? whole;
  const tookMs = last.atMs - first.atMs;
  const early = medianLag(samples.slice(WARM_UP_SECONDS, WARM_UP_SECONDS + 10));
  const late = medianLag(samples.slice(-10));
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
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
  await client.end();
  const [size = { rows: 0, heap: 0, indexes: 0, wal: 0 }] = rows;
  const per = (bytes: number) => (bytes / Math.max(1, size.rows)).toFixed(0);
  print(
    `made ${report.made}, sent ${report.sent}, in Postgres ${size.rows}, failed sends ${report.failures}`,
  );
  print(
    `rate: ${((report.made * 1000) / tookMs).toFixed(0)}/s made, ${(((last.stored - first.stored) * 1000) / tookMs).toFixed(0)}/s stored while they were made`,
  );
  print(
    `all of them stored ${((whole.atMs - last.atMs) / 1000).toFixed(1)} s after the last was made`,
  );
  print(`lag, records: median ${early} after the warm-up, ${late} in the last 10 s`);
  for (const [name, cpuUs] of Object.entries(whole.cpuUs)) {
    const used = cpuUs - (first.cpuUs[name] ?? 0);
    print(
      `CPU of ${name}: ${(used / Math.max(1, whole.stored - first.stored)).toFixed(1)} µs/record`,
    );
  }
  const { made, bytes, messages } = report;
  print(
    `NATS: ${(bytes / made).toFixed(0)} bytes/record, ${(made / messages).toFixed(0)} records/message`,
  );
  print(
    `Postgres: ${per(size.heap)} bytes/record in tables, ${per(size.indexes)} in indexes, ${per(size.wal)} in the WAL`,
  );
  if (size.rows !== report.made) throw new Error('not every record is stored once');
  const grows = late - early > rate * MAX_GROWTH_SECONDS || late > rate * MAX_LAG_SECONDS;
  print(grows ? 'the lag grew: this machine does not take that rate now' : 'the lag did not grow');
  if (grows) process.exitCode = 1;
}

const stack = await createPlaneStack({ ownPostgres: true });
try {
  await measure(stack);
} finally {
  await stack.close();
}
