import type { EventEmitter } from 'node:events';
import { StartError } from '@gateway/tools/process/errors';
import { UndoList } from '@gateway/shared/test/undo-list';

/** A run of a command. What it starts is stopped at its end, the newest first, however it ends. */
export interface Run {
  /** Aborted when the run is interrupted or takes too long. */
  readonly signal: AbortSignal;
  readonly defer: (close: () => unknown) => void;
}

/** No run takes as long: one of all curves takes half an hour, one of 50 million records an hour. */
const LIMIT_MS = 2 * 60 * 60 * 1000;

/**
 * Does the work of a run. Its signal is aborted after two hours, and by the first Ctrl-C or SIGTERM; a second one ends the
 * process at once.
 *
 * @throws the reason of the abort, also if the work ended well or with another error: its figures may be partial
 */
export async function untilInterrupted<T>(
  work: (run: Run) => Promise<T>,
  source: EventEmitter = process,
  limitMs = LIMIT_MS,
): Promise<T> {
  const abort = new AbortController();
  const stop = (reason: string) => abort.abort(new StartError(`bench: ${reason}`));
  const interrupt = () => stop('interrupted');
  const terminate = () => stop('terminated');
  const timer = setTimeout(() => stop(`not done within ${limitMs / 1000} s`), limitMs);
  source.once('SIGINT', interrupt).once('SIGTERM', terminate);
  try {
    return await scoped({ signal: abort.signal, defer: () => undefined }, work);
  } finally {
    clearTimeout(timer);
    source.off('SIGINT', interrupt).off('SIGTERM', terminate);
    abort.signal.throwIfAborted();
  }
}

/** Does a part of a run, whose `defer` is called when the part ends. */
export async function scoped<R extends Run, T>(run: R, work: (part: R) => Promise<T>): Promise<T> {
  const undo = new UndoList();
  const result = await undo.orUndo(() => work({ ...run, defer: (close) => undo.add(close) }));
  await undo.run();
  return result;
}
