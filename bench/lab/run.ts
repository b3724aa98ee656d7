import type { EventEmitter } from 'node:events';
import { StartError } from '@gateway/tools/process/errors';
import { UndoList } from '@gateway/shared/test/undo-list';

/** A run of a command. What it starts is stopped at its end, the newest first, however it ends. */
export interface Run {
  /** Aborted when the run is interrupted or takes too long. */
  readonly signal: AbortSignal;
  defer(close: () => unknown): void;
  /** Aborts the run if it has not ended this much later; a further call replaces the limit. */
  endAfter(ms: number): void;
}

/**
 * Does the work of a run. Its signal is aborted by the first Ctrl-C or SIGTERM; a second one ends the process at once.
 *
 * @throws the reason of the abort, also if the work ended well or with another error: its figures may be partial
 */
export async function untilInterrupted<T>(
  work: (run: Run) => Promise<T>,
  source: EventEmitter = process,
): Promise<T> {
  const abort = new AbortController();
  const stop = (reason: string) => abort.abort(new StartError(`bench: ${reason}`));
  const interrupt = () => stop('interrupted');
  const terminate = () => stop('terminated');
  let timer: NodeJS.Timeout | undefined;
  const endAfter = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => stop(`not done within ${ms / 1000} s`), ms);
  };
  source.once('SIGINT', interrupt).once('SIGTERM', terminate);
  try {
    return await scoped({ signal: abort.signal, defer: () => undefined, endAfter }, work);
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
