import { setTimeout as delay } from 'node:timers/promises';
import { lastErrorOf } from './last-error.ts';
import type { ManagedProcess } from './managed-process.ts';
import { StartError } from '@gateway/tools/process/errors';

export interface ReadyOptions {
  /**
   * Resolves with true if the process is ready. Resolves with false, or rejects, while it is not. Rejects with a StartError
   * if it never will be. It must not mistake another process on the same port for this one.
   */
  readonly check: () => Promise<boolean>;
  readonly timeoutMs: number;
  /** If it aborts, the process is stopped. */
  readonly signal?: AbortSignal | undefined;
}

const pollIntervalMs = 25;

/**
 * Polls until a process is ready. If the process ends, or is not ready in time, it is stopped, and the error contains the
 * last error that it logged.
 *
 * @throws {StartError} or the signal's reason
 */
export async function waitUntilReady(
  process: ManagedProcess,
  options: ReadyOptions,
): Promise<void> {
  const { check, timeoutMs, signal } = options;
  const deadline = performance.now() + timeoutMs;
  const state = { ended: false };
  void process.exited.then(() => {
    state.ended = true;
  });
  for (;;) {
    let hopeless: StartError | undefined;
    const ready = await check().catch((error: unknown) => {
      if (error instanceof StartError) hopeless = error;
      return false;
    });
    if (signal?.aborted === true) {
      await process.stop();
      signal.throwIfAborted();
    }
    if (ready && !state.ended) return;
    if (state.ended) {
      throw new StartError(`${process.name} ended during its start: ${reasonOf(process)}`);
    }
    if (hopeless !== undefined) {
      await process.stop('SIGKILL');
      const reason = `${hopeless.message} (log: ${process.logFile})`;
      throw new StartError(`${process.name} did not start: ${reason}`, { cause: hopeless });
    }
    if (performance.now() > deadline) {
      await process.stop('SIGKILL');
      const seconds = Math.round(timeoutMs / 1000);
      throw new StartError(
        `${process.name} was not ready within ${seconds} s: ${reasonOf(process)}`,
      );
    }
    await delay(pollIntervalMs);
  }
}

function reasonOf(process: ManagedProcess): string {
  const words = lastErrorOf(process.logs());
  return `${words === '' ? 'no output' : words} (log: ${process.logFile})`;
}
