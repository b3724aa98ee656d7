import { systemClock, waitUntil, type Clock } from '@gateway/shared/clock';
import { ConfigError } from '@gateway/shared/config/environment';
import { MAX_OVERLOADED_SERVICES } from '@gateway/shared/heartbeats/heartbeat';
import { assertServerVersion, logServerVersion } from '@gateway/shared/messaging/connection';
import { runProcess, type Runner } from '@gateway/shared/runner';
import { startAdminServer, type AdminServerOptions } from '@gateway/shared/telemetry/admin-server';
import { openLog, type ProcessLog } from '@gateway/shared/telemetry/logger';
import { collectProcessMetrics } from '@gateway/shared/telemetry/process-metrics';
import { Registry } from 'prom-client';
import { identityOf, readConfig, STOP_MARGIN_MS, type Config } from './config.ts';
import { reportConfiguration } from './configuration/configuration-report.ts';
import { answerConnectionTests } from './connection-tests/answer-connection-tests.ts';
import { answerExplains } from './explain/answer-explains.ts';
import { describeSkew } from './heartbeats/clock-skew.ts';
import { ownProcess, ProcessUseMeter } from './heartbeats/process-use-meter.ts';
import { openParts } from './parts.ts';
import { withCoarseTimers } from './timers/coarse-timers.ts';
import { startTraffic } from './traffic.ts';
import { joinGroup, type JoinedGroup } from './workers/join-group.ts';
import { lockDataFolder } from './workers/lock-data-folder.ts';
import { runWorkers } from './workers/run-workers.ts';
import { prepareWorkerFolders } from './workers/worker-folders.ts';
import { settingsOfWorker } from './workers/worker-settings.ts';

/** Resolution of timers. A request sets several and cancels nearly all; deadlines need no finer one. */
const TIMER_TICK_MS = 5;
/** How long a start waits for NATS before it serves without NATS. */
const FIRST_CONTACT_MS = 1000;
/** How long a worker waits for a first configuration before it accepts connections without one. */
const FIRST_CONFIGURATION_MS = 30_000;

/** What a data plane is built with. */
interface DataPlaneProcess {
  /** Closes what is registered, in reverse order. */
  readonly runner: Runner;
  readonly config: Config;
  readonly clock: Clock;
  readonly processLog: ProcessLog;
  /** The group of this worker; undefined if this process is a data plane by itself. */
  readonly group: JoinedGroup | undefined;
}

/**
 * Runs this process in the role that its settings give: a data plane by itself, a worker of a group, or
 * the primary of a group, which only starts workers. Invalid settings end the process with one line.
 */
async function run(): Promise<void> {
  const clock = withCoarseTimers(systemClock, TIMER_TICK_MS);
  const group = joinGroup();
  const given = load();
  const stopTimeoutMs = given.DRAIN_TIMEOUT_MS + STOP_MARGIN_MS;
  if (group === undefined && given.WORKERS > 1) {
    await runWorkers(given, clock, stopTimeoutMs);
    return;
  }
  const config = group === undefined ? given : settingsOfWorker(given, group.worker);
  const processLog = openLog(identityOf(config), config.LOG_LEVEL);
  const { log } = processLog;
  await runProcess({ name: 'data plane', log, clock, stopTimeoutMs }, async (runner) => {
    try {
      await start({ runner, config, clock, processLog, group });
    } catch (error) {
      group?.failed(error);
      throw error;
    }
  });
}

function load(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`data plane cannot start: ${error.message}\n`);
    process.exit(1);
  }
}

/**
 * Builds and starts a data plane: it reads the configuration, serves traffic, and sends records and
 * heartbeats. Resolves when the data plane serves, with the configuration that it has by then. A worker that joins others
 * waits for its first configuration.
 *
 * @throws {ConfigError} or the error of a port or a folder, in one line
 */
async function start(process: DataPlaneProcess): Promise<void> {
  const { runner, config, clock, processLog, group } = process;
  const { log } = processLog;
  const registry = new Registry();
  processLog.observe(registry);
  const eventLoop = collectProcessMetrics(registry, clock);
  const use = new ProcessUseMeter(ownProcess(eventLoop), clock);
  // In a group the primary has done this.
  if (group === undefined) {
    await lockDataFolder(config.DATA_PLANE_DATA_DIR, runner, log);
    await prepareWorkerFolders(config.DATA_PLANE_DATA_DIR, 1, log);
  }

  const parts = await openParts({ config, runner, clock, log, registry });
  const { local, link, heartbeats, records, feed, fleet, quotas } = parts;
  const { credentials, unusable, overloads, health, inFlight } = local;
  heartbeats.start(() => ({
    ...reportConfiguration(feed.status),
    in_flight: inFlight.count,
    services: health.report(),
    ...health.reportUpstreams(),
    unusable_credentials: [...credentials.unusable()],
    ...unusable.heartbeat(),
    overloaded_services: overloads.recent().slice(0, MAX_OVERLOADED_SERVICES),
    ...use.read(),
  }));

  let open = false;
  const draining = new AbortController();
  const adminOptions: AdminServerOptions = {
    host: config.DATA_PLANE_ADMIN_HOST,
    port: config.DATA_PLANE_ADMIN_PORT,
    portVariable: 'DATA_PLANE_ADMIN_PORT',
    log,
    registry,
    exemplars: parts.tracing !== undefined,
    notReady: () => [
      ...(feed.isLoaded() ? [] : ['the configuration is not completely loaded']),
      ...(open ? [] : ['the data path is not open yet']),
      ...(parts.signal.aborted || draining.signal.aborted ? ['stopping'] : []),
    ],
    degraded: () => [
      ...(feed.status.connected ? [] : ['not connected to NATS: the configuration may be old']),
      ...[feed.status.lastError, feed.status.lastGoodError, records.problem].filter(isText),
      ...credentials.reasons(),
      ...unusable.reasons(),
      ...[describeSkew(heartbeats.serverTimeOffsetMs()), heartbeats.problem].filter(isText),
      ...local.names.reasons(),
      ...overloads.reasons(),
    ],
  };
  const admin = group?.answer(adminOptions) ?? (await startAdminServer(adminOptions));
  runner.defer('admin server', () => admin.close());
  runner.defer('quota fleet', () => fleet.leave());
  fleet.start(quotas);

  await feed.restored;
  // Otherwise the first requests would get quota shares as if there were no other data plane.
  await waitUntil(clock, FIRST_CONTACT_MS, () => heartbeats.serverTimeOffsetMs() !== undefined);
  if (group?.startsGroup !== false) assertServerVersion(link.connection);
  void parts.nats.then(
    (connection) => logServerVersion(connection, log),
    () => undefined,
  );
  const traffic = await startTraffic(local, {
    ready: () => feed.isLoaded(),
    complete: () => feed.isComplete(),
    quotas,
    idempotencyStore: parts.idempotencyStore,
    clockOffsetMs: () => heartbeats.serverTimeOffsetMs(),
    connections: group?.acceptConnections,
    certificate: parts.certificate,
    addRecord: (record) => records.add(record),
    tracing: parts.tracing,
  });
  open = true;
  const explain = traffic.explainWith(quotas);
  const dataPlaneId = config.DATA_PLANE_ID;
  answerExplains(link, { dataPlaneId, explain, log });
  answerConnectionTests(link, { dataPlaneId, testService: local.testService, log });
  runner.defer('data path', () => {
    draining.abort();
    return traffic.stop();
  });
  // Without a configuration it would refuse requests that the other workers serve.
  if (group?.startsGroup === false) {
    await waitUntil(
      clock,
      FIRST_CONFIGURATION_MS,
      () => draining.signal.aborted || feed.isLoaded(),
    );
  }
  if (draining.signal.aborted) return;
  group?.serving();
  log.info({ port: traffic.port, admin_port: admin.port }, 'ready');
}

function isText(reason: string | undefined): reason is string {
  return reason !== undefined;
}

await run();
