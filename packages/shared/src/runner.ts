import { messageOf } from './errors/message-of.ts';
import type { Logger } from 'pino';
import type { Clock } from './clock.ts';

export interface Runner {
  /** Registers a close function. At the stop they run once each, last registered first. */
  defer(name: string, close: () => void | Promise<void>): void;
  /** Runs all close functions; resolves with the first error, if any. Further calls return the same promise. */
  stop(): Promise<Error | undefined>;
}

/** Closes parts in reverse order of their start. If one fails, the others are still closed. */
export function createRunner(log: Logger): Runner {
  const undo: { name: string; close: () => void | Promise<void> }[] = [];
  let stopping: Promise<Error | undefined> | undefined;

  async function undoAll(): Promise<Error | undefined> {
    let first: Error | undefined;
    for (let item = undo.pop(); item !== undefined; item = undo.pop()) {
      try {
        await item.close();
      } catch (error) {
        log.error({ err: error, part: item.name }, 'close failed');
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
  /** After this time a stop is abandoned and the process exits with 1, ms. */
  readonly stopTimeoutMs: number;
}

/**
 * Runs a process until SIGTERM or SIGINT. `start` starts the parts and registers their close functions; a signal runs them. The
 * exit code is 0 after a clean stop, and 1 if the start failed, a part did not close, or the stop took too long. A failed
 * start logs one line. SIGHUP reloads the certificate, if there is one, and never ends the process.
 */
export async function runProcess(
  options: ProcessOptions,
  start: (runner: Runner) => Promise<void>,
): Promise<void> {
  const { log, clock, name } = options;
  const runner = createRunner(log);

  async function stopAndExit(why: string, code: number): Promise<never> {
    log.info({ why }, `${name} stopping`);
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

  // Without a listener SIGHUP would kill the process, along with its requests in flight.
  process.on('SIGHUP', () => undefined);
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
    log.fatal(`${name} cannot start: ${messageOf(error)}`);
    await stopAndExit('failed start', 1);
  }
}
