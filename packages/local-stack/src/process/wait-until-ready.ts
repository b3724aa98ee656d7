import { setTimeout as delay } from 'node:timers/promises';
import { lastWords } from './last-words.ts';
import type { ManagedProcess } from './managed-process.ts';
import { StartError } from './start-error.ts';

export interface ReadyOptions {
  /**
   * Resolves when the process serves; rejects, or answers false, while it does not yet; rejects
   * with a StartError where it never will. It must tell this process from another that holds the
   * same port.
   */
  readonly check: () => Promise<boolean>;
  readonly timeoutMs: number;
  /** Gives up, and stops the process, when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

const pollIntervalMs = 25;

/**
 * Polls until a process serves. A process that ended, or is not ready in time, is stopped and
 * reported with the last line that it wrote.
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
      throw new StartError(`${process.name} ended while it started: ${reasonOf(process)}`);
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
  const words = lastWords(process.logs());
  return `${words === '' ? 'it wrote nothing' : words} (log: ${process.logFile})`;
}
