import type { EventEmitter } from 'node:events';
import { StartError } from '@gateway/tools/process/errors';

/**
 * Runs work whose signal is aborted by the first Ctrl-C or SIGTERM, so that it can stop what it started. A second one ends
 * the process at once.
 *
 * @throws the reason of the abort, also if the work ended well or with another error: its figures may be partial
 */
export async function untilInterrupted<T>(
  work: (signal: AbortSignal, stop: (reason: string) => void) => Promise<T>,
  source: EventEmitter = process,
): Promise<T> {
  const abort = new AbortController();
  const { signal } = abort;
  const stop = (reason: string) => abort.abort(new StartError(`bench: ${reason}`));
  const interrupt = () => stop('interrupted');
  const terminate = () => stop('terminated');
  source.once('SIGINT', interrupt).once('SIGTERM', terminate);
  try {
    return await work(signal, stop);
  } finally {
    source.off('SIGINT', interrupt).off('SIGTERM', terminate);
    signal.throwIfAborted();
  }
}
