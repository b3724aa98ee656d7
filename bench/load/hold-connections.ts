/** Connections that are opened together and closed together. */
export interface HeldConnections {
  readonly close: () => void;
}

/** How many are opened at a time; a queue of unaccepted connections has a limit. */
const PARALLEL = 50;

/**
 * Opens so many connections. `open` makes its sockets with the given signal, which is aborted when the run is, when one
 * could not be opened, and by `close`: so no socket outlives them, also none that is opened at that moment.
 */
export async function holdConnections(
  count: number,
  signal: AbortSignal,
  open: (signal: AbortSignal) => Promise<unknown>,
): Promise<HeldConnections> {
  const closing = new AbortController();
  const ended = AbortSignal.any([signal, closing.signal]);
  let left = count;
  const work = async () => {
    while (left > 0) {
      left -= 1;
      ended.throwIfAborted();
      await open(ended);
    }
  };
  try {
    await Promise.all(Array.from({ length: PARALLEL }, work));
  } catch (error) {
    closing.abort();
    throw error;
  }
  return { close: () => closing.abort() };
}
