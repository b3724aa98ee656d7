import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { RECORD_DOCUMENTS } from '@gateway/control-plane/requests/record-document';
import { choice, command, whole } from '../command.ts';
import { startScript } from '../lab/script.ts';
import { startStack } from '../lab/stack.ts';
import { usageOf } from '../measure/process-tree.ts';
import { readMetrics } from '../measure/prometheus.ts';
import { log } from '../lab/log.ts';
import { printResult, type Sample } from './ingest-result.ts';
import type { PublisherOrder, PublisherReport } from './publisher-process.ts';

const SAMPLE_MS = 1000;
/** How long after the last record was made all must be stored. */
const MAX_DRAIN_MS = 120_000;

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
    const natsUrl = stack.natsUrl;
    const order: PublisherOrder = { natsUrl, dataPlanes, recordsPerSecond: rate, seconds };
    const file = new URL('publisher-process.ts', import.meta.url);
    const { child: publisher } = startScript(run, file, order);
    const ended = once(publisher, 'exit');
    let report: PublisherReport = { made: 0, bytes: 0, sent: 0, messages: 0, failures: 0 };
    publisher.on('message', (message) => (report = message as PublisherReport));
    const storedRecords = async () =>
      (await readMetrics(controlPlane.adminUrl))('gateway_control_plane_ingest_records_total');
    const pids = {
      'control plane': controlPlane.pid,
      Postgres: stack.postgres?.pid ?? Number.NaN,
      NATS: stack.nats.pid,
    };
    const samples: Sample[] = [];
    const sample = async (): Promise<Sample> => {
      const stored = await storedRecords();
      const cpuUs = Object.entries(pids).map(([name, pid]) => [name, usageOf(pid).cpuUs]);
      const now: Sample = {
        atMs: performance.now(),
        made: report.made,
        stored,
        cpuUs: Object.fromEntries(cpuUs) as Record<string, number>,
      };
      log(`${now.stored} records stored, lag ${now.made - now.stored}`);
      return now;
    };

    while (report.made === 0 && publisher.exitCode === null) {
      await delay(10, undefined, { signal });
    }
    const endMs = performance.now() + seconds * 1000;
    samples.push(await sample());
    while (performance.now() < endMs) {
      const leftMs = Math.max(1, endMs - performance.now());
      await delay(Math.min(SAMPLE_MS, leftMs), undefined, { signal });
      samples.push(await sample());
    }
    const drainEndMs = performance.now() + MAX_DRAIN_MS;
    while (publisher.exitCode === null || (await storedRecords()) < report.made) {
      if (performance.now() > drainEndMs) throw new Error('not every record was stored in time');
      await delay(50, undefined, { signal });
    }
    await ended;
    const end = await sample();
    await printResult({ databaseUrl: stack.databaseUrl, samples, end, report, rate }, run);
  },
});
