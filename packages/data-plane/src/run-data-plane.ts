import { systemClock, type Clock } from '@gateway/shared/clock';
import { withCoarseTimers } from './timers/coarse-timers.ts';
import { ConfigError } from '@gateway/shared/config/environment';
import { runProcess, type Runner } from '@gateway/shared/runner';
import { openLog, type ProcessLog } from '@gateway/shared/telemetry/logger';
import { identityOf, readConfig, STOP_MARGIN_MS, type Config } from './config.ts';
import { joinGroup, type JoinedGroup } from './workers/join-group.ts';
import { runWorkers } from './workers/run-workers.ts';
import { settingsOfWorker } from './workers/worker-settings.ts';

/** Resolution of timers. A request sets several and cancels nearly all; deadlines need no finer one. */
const TIMER_TICK_MS = 5;

/** What `start` gets to build a data plane. */
export interface DataPlaneProcess {
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
export async function runDataPlane(
  start: (process: DataPlaneProcess) => Promise<void>,
): Promise<void> {
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
