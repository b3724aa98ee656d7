import type { EventEmitter } from 'node:events';
import { StartError } from '@gateway/local-stack/process/errors';

/**
 * Runs work whose signal is aborted by the first Ctrl-C or SIGTERM, so that it can stop what it started. A second one ends
 * the process at once.
 *
 * @throws the reason of the abort, whatever error the work ended with then
 */
export async function untilInterrupted(
  work: (signal: AbortSignal, stop: (reason: string) => void) => Promise<void>,
  source: EventEmitter = process,
): Promise<void> {
  const abort = new AbortController();
  const { signal } = abort;
  const stop = (reason: string) => abort.abort(new StartError(`bench: ${reason}`));
  const interrupt = () => stop('interrupted');
  const terminate = () => stop('terminated');
  source.once('SIGINT', interrupt).once('SIGTERM', terminate);
  try {
    await work(signal, stop);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    source.off('SIGINT', interrupt).off('SIGTERM', terminate);
  }
}
