import type { Clock } from '@gateway/shared/clock';
import { runProcess, type Runner } from '@gateway/shared/runner';
import { startAdminPort } from '@gateway/shared/telemetry/admin-server';
import { openLog, type Logger, type ProcessLog } from '@gateway/shared/telemetry/logger';
import { collectProcessMetrics } from '@gateway/shared/telemetry/process-metrics';
import { certificateFiles } from '@gateway/shared/tls/tls-variables';
import { symbols } from 'pino';
import { Counter, Gauge, Registry } from 'prom-client';
import type { Config } from '../config.ts';
import { forkWorker } from './fork-worker.ts';
import { readinessOfGroup } from './group-readiness.ts';
import { mergeMetrics } from './merge-metrics.ts';
import type { LineTarget } from './whole-lines.ts';
import { prepareWorkerFolders } from './worker-folders.ts';
import { WorkerGroup } from './worker-group.ts';

/** Beyond the time that a worker takes for its own stop. */
const STOP_MARGIN_MS = 500;

/**
 * Runs a data plane as a group: a primary that holds the port and the admin port, and `WORKERS` workers,
 * each a data plane of its own, that carry the traffic. Resolves when they were started.
 *
 * @param workerStopMs how long a worker may take to stop
 */
export async function runWorkers(
  config: Config,
  clock: Clock,
  workerStopMs: number,
): Promise<void> {
  const processLog = openLog(config.DATA_PLANE_ID, config.LOG_LEVEL);
  const { log } = processLog;
  const stopTimeoutMs = workerStopMs + 2 * STOP_MARGIN_MS;
  await runProcess({ name: 'data plane', log, clock, stopTimeoutMs }, (runner) =>
    start(runner, config, clock, processLog, workerStopMs + STOP_MARGIN_MS),
  );
}

async function start(
  runner: Runner,
  config: Config,
  clock: Clock,
  { log, observe }: ProcessLog,
  stopMs: number,
): Promise<void> {
  const registry = new Registry();
  registry.setDefaultLabels({ worker: 'primary' });
  observe(registry);
  collectProcessMetrics(registry, clock);
  const restarts = new Counter({
    name: 'gateway_worker_restarts_total',
    help: 'Workers that took the place of one that had crashed, had hung, or was stopped by itself.',
    labelNames: ['why'],
    registers: [registry],
  });
  for (const why of ['crashed', 'stopped', 'hung']) restarts.inc({ why }, 0);
  let stopping = false;
  const undealt = new Counter({
    name: 'gateway_connections_undealt_total',
    help: 'Connections that were closed before a worker had them, by reason.',
    labelNames: ['why'],
    registers: [registry],
  });
  for (const why of ['worker_ended', 'no_open_files', 'stopping']) undealt.inc({ why }, 0);
  const lines = linesOf(log);
  await prepareWorkerFolders(config.DATA_PLANE_DATA_DIR, config.WORKERS, log);
  const group = new WorkerGroup({
    workers: config.WORKERS,
    launch: (worker, onNews) =>
      forkWorker(worker, onNews, {
        ...{ clock, lines },
        undealt: (why) => undealt.inc({ why }),
        stopping: () => stopping,
      }),
    clock,
    hangTimeoutMs: config.WORKER_HANG_TIMEOUT_MS,
    random: Math.random,
    log,
    restarted: (why) => restarts.inc({ why }),
  });
  new Gauge({
    name: 'gateway_workers',
    help: 'Workers of this process group by state.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      for (const state of ['starting', 'serving', 'leaving', 'waiting'] as const) {
        this.set({ state }, group.count(state));
      }
    },
  });
  const admin = await startAdminPort({
    host: config.DATA_PLANE_ADMIN_HOST,
    port: config.DATA_PLANE_ADMIN_PORT,
    portVariable: 'DATA_PLANE_ADMIN_PORT',
    registry: {
      contentType: registry.contentType,
      async metrics() {
        const texts = await Promise.all([
          registry.metrics(),
          ...group.running.map(({ process }) => process.metrics()),
        ]);
        return mergeMetrics(texts.filter((text) => text !== undefined));
      },
    },
    readiness: () => readinessOfGroup(group.running, config.WORKERS, stopping),
  });
  runner.defer('admin server', () => admin.close());
  runner.defer('workers', () => {
    stopping = true;
    return group.stop(stopMs);
  });
  if (certificateFiles(config) !== undefined) process.on('SIGHUP', () => group.reload());
  await group.start();
  log.info(
    { port: config.GATEWAY_PORT, admin_port: admin.port, workers: config.WORKERS },
    'the workers of the data plane are started',
  );
}

/** Where the log of this process goes, for the lines of the workers as well. */
function linesOf(log: Logger): LineTarget {
  const output = (log as unknown as Record<symbol, LineTarget>)[symbols.streamSym];
  if (output === undefined) throw new Error('the log has no output');
  return output;
}
