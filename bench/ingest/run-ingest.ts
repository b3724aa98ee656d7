import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { RecordDocuments } from '@gateway/control-plane/requests/record-document';
import { createPlaneStack, type PlaneStack } from '@gateway/testing/processes';
import { UndoList } from '@gateway/shared/test/undo-list';
import { untilInterrupted } from '../lab/interruption.ts';
import { usageOf } from '../measure/process-tree.ts';
import { readMetrics } from '../measure/prometheus.ts';
import { printResult, type Sample } from './ingest-result.ts';
import type { PublisherOrder, PublisherReport } from './publisher-process.ts';

/** What `npm run bench -- ingest` is given. */
export interface IngestOptions {
  /** Records a second. */
  readonly rate: number;
  readonly seconds: number;
  readonly dataPlanes: number;
  /** The form of the stored documents. */
  readonly documents: RecordDocuments;
  /** Folder for a CPU profile of the control plane. */
  readonly cpuProf?: string;
}

const SAMPLE_MS = 1000;
const PRINT_EVERY = 5;
/** How long after the last record was made all must be stored. */
const MAX_DRAIN_MS = 120_000;
const publisherProcess = fileURLToPath(new URL('publisher-process.ts', import.meta.url));

/**
 * Measures how many request records a second the real control plane moves from the stream into a Postgres of this run,
 * and what each costs. Sets exit code 1 if it does not keep up with the rate.
 */
export function runIngest(options: IngestOptions): Promise<void> {
  return untilInterrupted(async (signal) => {
    const undo = new UndoList();
    try {
      const stack = await createPlaneStack({ ownPostgres: true });
      undo.add(() => stack.close());
      await measure(stack, options, signal, undo);
    } finally {
      await undo.run();
    }
  });
}

async function storedRecords(adminUrl: string): Promise<number> {
  return (await readMetrics(adminUrl))('gateway_control_plane_ingest_records_total');
}

async function measure(
  stack: PlaneStack,
  options: IngestOptions,
  signal: AbortSignal,
  undo: UndoList,
): Promise<void> {
  const { postgres, nats } = stack;
  if (postgres === undefined) throw new Error('the stack has no Postgres of its own');
  const { rate, seconds, dataPlanes, documents, cpuProf } = options;
  const nodeArgs = cpuProf === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${cpuProf}`];
  const controlPlane = await stack.startControlPlane({
    nodeArgs,
    env: { RECORD_DOCUMENTS: documents },
    signal,
  });
  const order: PublisherOrder = { natsUrl: nats.url, dataPlanes, recordsPerSecond: rate, seconds };
  const publisher = fork(publisherProcess, [JSON.stringify(order)]);
  const ended = once(publisher, 'exit');
  undo.add(() => {
    if (publisher.connected) publisher.disconnect();
    return ended;
  });
  let report: PublisherReport = { made: 0, bytes: 0, sent: 0, messages: 0, failures: 0 };
  publisher.on('message', (message) => (report = message as PublisherReport));
  const pids = { 'control plane': controlPlane.pid, Postgres: postgres.pid, NATS: nats.pid };
  const sample = async (): Promise<Sample> => {
    const stored = await storedRecords(controlPlane.adminUrl);
    const cpuUs = Object.entries(pids).map(([name, pid]) => [name, usageOf(pid).cpuUs] as const);
    return { atMs: performance.now(), made: report.made, stored, cpuUs: Object.fromEntries(cpuUs) };
  };

  while (report.made === 0 && publisher.exitCode === null) {
    await delay(10, undefined, { signal });
  }
  const samples = [await sample()];
  const endMs = performance.now() + seconds * 1000;
  while (performance.now() < endMs) {
    const leftMs = Math.max(1, endMs - performance.now());
    await delay(Math.min(SAMPLE_MS, leftMs), undefined, { signal });
    samples.push(await sample());
    if (samples.length % PRINT_EVERY === 0) printProgress(samples);
  }
  samples.push(await sample());

  const drainEndMs = performance.now() + MAX_DRAIN_MS;
  const drained = async () =>
    publisher.exitCode !== null && (await storedRecords(controlPlane.adminUrl)) >= report.made;
  while (!(await drained())) {
    if (performance.now() > drainEndMs) throw new Error('not every record was stored in time');
    await delay(50, undefined, { signal });
  }
  await ended;
  await printResult({ databaseUrl: stack.databaseUrl, samples, end: await sample(), report, rate });
}

function printProgress(samples: readonly Sample[]): void {
  const [first] = samples;
  const now = samples.at(-1);
  const before = samples.at(-2) ?? now;
  if (first === undefined || now === undefined || before === undefined) return;
  const perSecond = ((now.stored - before.stored) * 1000) / (now.atMs - before.atMs);
  const seconds = ((now.atMs - first.atMs) / 1000).toFixed(0).padStart(4);
  process.stdout.write(
    `${seconds} s: ${perSecond.toFixed(0).padStart(6)} records/s stored, lag ${now.made - now.stored}\n`,
  );
}
