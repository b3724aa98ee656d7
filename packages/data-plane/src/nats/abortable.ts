/**
 * The work, or the signal's reason as soon as it aborts. For calls that end by themselves in some
 * seconds but take no signal: a stop need not wait for them. What becomes of them is then ignored.
 */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    const settled = () => signal.removeEventListener('abort', abort);
    work.then(resolve, reject).finally(settled);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
  });
}
