import type { Logger } from 'pino';
import type { Clock } from './clock.ts';

export interface Runner {
  /** Registers how to undo what was just acquired. Undone last in, first out, each once. */
  defer(name: string, close: () => void | Promise<void>): void;
  /** Undoes everything and resolves with the first error, if any. Further calls join the first. */
  stop(): Promise<Error | undefined>;
}

/** Clean-up in reverse order of acquisition; one that fails does not keep the others from running. */
export function createRunner(log: Logger): Runner {
  const undo: { name: string; close: () => void | Promise<void> }[] = [];
  let stopping: Promise<Error | undefined> | undefined;

  async function undoAll(): Promise<Error | undefined> {
    let first: Error | undefined;
    for (let item = undo.pop(); item !== undefined; item = undo.pop()) {
      try {
        await item.close();
      } catch (error) {
        log.error({ err: error, part: item.name }, 'a part did not close cleanly');
        first ??= error instanceof Error ? error : new Error(String(error));
      }
    }
    return first;
  }

  return {
    defer: (name, close) => void undo.push({ name, close }),
    stop: () => (stopping ??= undoAll()),
  };
}

export interface ProcessOptions {
  readonly name: string;
  readonly log: Logger;
  readonly clock: Clock;
  /** How long a stop may take before the process gives up on it, ms. */
  readonly stopTimeoutMs: number;
}

/**
 * Runs a process until SIGTERM or SIGINT: `start` acquires and registers, a signal undoes all of it.
 * Exit code 0 after a clean stop, 1 where the start failed, a part did not close, or time ran out.
 * A failure at start is one line.
 */
export async function runProcess(
  options: ProcessOptions,
  start: (runner: Runner) => Promise<void>,
): Promise<void> {
  const { log, clock, name } = options;
  const runner = createRunner(log);

  async function stopAndExit(reason: string, code: number): Promise<never> {
    log.info({ reason }, `${name} stops`);
    const timer = setTimeout(() => {
      log.error({ stop_timeout_ms: options.stopTimeoutMs }, `${name} did not stop in time`);
      log.flush();
      process.exit(1);
    }, options.stopTimeoutMs);
    const startedMs = clock.monotonicMs();
    const error = await runner.stop();
    clearTimeout(timer);
    log.info({ took_ms: Math.round(clock.monotonicMs() - startedMs) }, `${name} stopped`);
    log.flush();
    process.exit(error === undefined ? code : 1);
  }

  process.once('SIGTERM', () => void stopAndExit('SIGTERM', 0));
  process.once('SIGINT', () => void stopAndExit('SIGINT', 0));
  process.on('unhandledRejection', (error) => {
    log.fatal({ err: error }, 'unhandled rejection');
    void stopAndExit('unhandled rejection', 1);
  });
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception');
    void stopAndExit('uncaught exception', 1);
  });

  try {
    await start(runner);
  } catch (error) {
    log.fatal(`${name} cannot start: ${error instanceof Error ? error.message : String(error)}`);
    await stopAndExit('failed start', 1);
  }
}
