import { systemClock } from '@gateway/shared/clock';
import { withCoarseTimers } from '@gateway/shared/coarse-timers';
import { ConfigError } from '@gateway/shared/config/environment';
import { runProcess } from '@gateway/shared/runner';
import { openLog } from '@gateway/shared/telemetry/logger';
import { readConfig, type Config } from './config.ts';
import { startDataPlane } from './start-data-plane.ts';
import { joinGroup, type JoinedGroup } from './workers/join-group.ts';
import { runWorkers } from './workers/run-workers.ts';
import { settingsOfWorker } from './workers/worker-settings.ts';

/** Deadlines and idle times need no better; a request sets several and cancels nearly all. */
const TIMER_TICK_MS = 5;
/** Beyond the drain: for records to be flushed and connections to be closed. */
const STOP_MARGIN_MS = 8_000;

function load(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`data plane cannot start: ${error.message}\n`);
    process.exit(1);
  }
}

async function runDataPlane(config: Config, group: JoinedGroup | undefined): Promise<void> {
  const processLog = openLog(config.DATA_PLANE_ID, config.LOG_LEVEL);
  const { log } = processLog;
  await runProcess({ name: 'data plane', log, clock, stopTimeoutMs }, async (runner) => {
    try {
      await startDataPlane({ runner, config, clock, processLog, group });
    } catch (error) {
      group?.failed(error);
      throw error;
    }
  });
}

const clock = withCoarseTimers(systemClock, TIMER_TICK_MS);
const group = joinGroup();
const config = load();
const stopTimeoutMs = config.DRAIN_TIMEOUT_MS + STOP_MARGIN_MS;
if (group !== undefined) await runDataPlane(settingsOfWorker(config, group.worker), group);
else if (config.WORKERS > 1) await runWorkers(config, clock, stopTimeoutMs);
else await runDataPlane(config, undefined);
