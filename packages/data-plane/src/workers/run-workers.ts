import { createServer } from 'node:net';
import { pause, type Clock } from '@gateway/shared/clock';
import { listen } from '@gateway/shared/net/listen';
import { stopListening } from '@gateway/shared/net/stop-listening';
import { runProcess, type Runner } from '@gateway/shared/runner';
import { startAdminPort, type AdminServer } from '@gateway/shared/telemetry/admin-server';
import { Instruments } from '@gateway/shared/telemetry/instruments';
import { openLog, type Logger, type ProcessLog } from '@gateway/shared/telemetry/logger';
import { collectProcessMetrics } from '@gateway/shared/telemetry/process-metrics';
import { certificateFiles, type TlsSettings } from '@gateway/shared/tls/tls-variables';
import { symbols } from 'pino';
import { Registry, type Counter } from 'prom-client';
import { identityOf } from '../config.ts';
import { notAcceptedCounter } from '../telemetry/not-accepted-counter.ts';
import { readOpenFilesLimit, withinOpenFiles } from '../limits/open-files.ts';
import { ConnectionAssigner, type UnassignedReason } from './connection-assigner.ts';
import { forkWorker } from './fork-worker.ts';
import { readinessOfGroup } from './group-readiness.ts';
import { lockDataFolder } from './lock-data-folder.ts';
import { mergeMetrics } from './merge-metrics.ts';
import type { LineTarget } from './whole-lines.ts';
import { prepareWorkerFolders } from './worker-folders.ts';
import { WorkerGroup, type RestartReason, type WorkerState } from './worker-group.ts';

/** Added to the time that a worker may take to stop. */
const STOP_MARGIN_MS = 500;

/** How long a stop waits for workers to take the last connections. */
const MAX_ASSIGN_MS = 250;

/** The settings that the primary of a group uses. */
export interface PrimarySettings extends TlsSettings {
  readonly WORKERS: number;
  readonly WORKER_HANG_TIMEOUT_MS: number;
  readonly DATA_PLANE_ID: string;
  readonly DATA_PLANE_DATA_DIR: string;
  readonly DATA_PLANE_ADMIN_HOST: string;
  readonly DATA_PLANE_ADMIN_PORT: number;
  readonly GATEWAY_HOST: string;
  readonly GATEWAY_PORT: number;
  readonly MAX_CONNECTIONS: number;
  readonly LOG_LEVEL: string;
}

/**
 * Runs a data plane as a group: a primary that listens on the port and the admin port, and `WORKERS` workers that serve the
 * connections, each a data plane of its own. Resolves when the workers are started.
 *
 * @param workerStopMs how long a worker may take to stop
 */
export async function runWorkers(
  settings: PrimarySettings,
  clock: Clock,
  workerStopMs: number,
): Promise<void> {
  const processLog = openLog(identityOf(settings), settings.LOG_LEVEL);
  const { log } = processLog;
  const stopTimeoutMs = workerStopMs + 2 * STOP_MARGIN_MS;
  await runProcess({ name: 'data plane', log, clock, stopTimeoutMs }, (runner) =>
    start(runner, settings, clock, processLog, workerStopMs + STOP_MARGIN_MS),
  );
}

async function start(
  runner: Runner,
  settings: PrimarySettings,
  clock: Clock,
  { log, observe }: ProcessLog,
  stopMs: number,
): Promise<void> {
  const registry = new Registry();
  registry.setDefaultLabels({ worker: 'primary' });
  observe(registry);
  collectProcessMetrics(registry, clock);
  const instruments = new Instruments(registry);
  const { restarts, unassigned } = countersOf(instruments);
  const notAccepted = notAcceptedCounter(instruments);
  const lines = outputOf(log);
  const folder = await lockDataFolder(settings.DATA_PLANE_DATA_DIR, runner, log);
  await prepareWorkerFolders(settings.DATA_PLANE_DATA_DIR, settings.WORKERS, log);

  // More would only be closed by the workers. A quarter of the open files stays free to start workers with.
  const maxWaiting = withinOpenFiles(settings.MAX_CONNECTIONS, readOpenFilesLimit(), log);
  const assigner = new ConnectionAssigner(maxWaiting, (reason) => unassigned.inc({ reason }));
  // A connection is not read before a worker has it.
  const server = createServer({ pauseOnConnect: true }, (socket) => assigner.accept(socket));
  const group = new WorkerGroup({
    workers: settings.WORKERS,
    launch: (worker, onNews, startsGroup) =>
      forkWorker(worker, startsGroup, onNews, { clock, log, lines, folder }),
    clock,
    hangTimeoutMs: settings.WORKER_HANG_TIMEOUT_MS,
    random: Math.random,
    log,
    restarted: (reason) => restarts.inc({ reason }),
    connections: assigner,
  });
  instruments.observeGauges(
    'gateway_workers',
    'Workers of this process group, by state',
    ['state'],
    () => STATES.map((state) => [{ state }, group.count(state)] as const),
  );

  let stopping = false;
  const admin = await openAdminPort(settings, registry, group, log, () => stopping);
  runner.defer('admin server', () => admin.close());
  runner.defer('workers', async () => {
    stopping = true;
    await stopListening(server);
    const late = new AbortController();
    await Promise.race([assigner.allAssigned(), pause(clock, MAX_ASSIGN_MS, late.signal)]);
    late.abort();
    assigner.stop();
    await group.stop(stopMs);
  });
  if (certificateFiles(settings) !== undefined) process.on('SIGHUP', () => group.reload());
  let port = settings.GATEWAY_PORT;
  await group.start(async () => {
    const { GATEWAY_HOST: host, GATEWAY_PORT } = settings;
    const portVariable = 'GATEWAY_PORT';
    port = await listen(server, { host, port: GATEWAY_PORT, portVariable, log, notAccepted });
  });
  log.info(
    { port, admin_port: admin.port, workers: settings.WORKERS },
    'data plane workers started',
  );
}

const STATES: readonly WorkerState[] = ['starting', 'serving', 'leaving', 'waiting'];
const RESTART_REASONS: readonly RestartReason[] = ['crashed', 'stopped', 'hung'];
const UNASSIGNED_REASONS: readonly UnassignedReason[] = [
  'worker_ended',
  'no_open_files',
  'too_many_waiting',
  'stopping',
];

function countersOf(instruments: Instruments): {
  readonly restarts: Counter<'reason'>;
  readonly unassigned: Counter<'reason'>;
} {
  return {
    restarts: instruments.counterBy(
      'gateway_worker_restarts_total',
      'Workers started to replace one that crashed, hung or was stopped alone, by reason',
      'reason',
      RESTART_REASONS,
    ),
    unassigned: instruments.counterBy(
      'gateway_connections_unassigned_total',
      'Connections closed before a worker accepted them, by reason',
      'reason',
      UNASSIGNED_REASONS,
    ),
  };
}

/** One admin port for the group, with the metrics of all its processes. */
function openAdminPort(
  settings: PrimarySettings,
  registry: Registry,
  group: WorkerGroup,
  log: Logger,
  stopping: () => boolean,
): Promise<AdminServer> {
  return startAdminPort({
    host: settings.DATA_PLANE_ADMIN_HOST,
    port: settings.DATA_PLANE_ADMIN_PORT,
    portVariable: 'DATA_PLANE_ADMIN_PORT',
    log,
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
    readiness: () => readinessOfGroup(group.running, settings.WORKERS, stopping()),
  });
}

/** The output of the primary's log, for the log lines of the workers. */
function outputOf(log: Logger): LineTarget {
  const output = (log as unknown as Record<symbol, LineTarget>)[symbols.streamSym];
  if (output === undefined) throw new Error('the log has no output');
  return output;
}
