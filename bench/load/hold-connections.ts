import type { Socket } from 'node:net';

/** Connections that are opened together and closed together. */
export interface HeldConnections {
  /** How many the other side has closed, or an error. */
  readonly closed: number;
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
  open: (signal: AbortSignal) => Promise<Socket>,
): Promise<HeldConnections> {
  const closing = new AbortController();
  const ended = AbortSignal.any([signal, closing.signal]);
  let left = count;
  let closed = 0;
  const countClosed = () => {
    if (!ended.aborted) closed += 1;
  };
  const work = async () => {
    while (left > 0) {
      left -= 1;
      ended.throwIfAborted();
      const socket = await open(ended);
      if (socket.closed) countClosed();
      else socket.once('close', countClosed);
    }
  };
  try {
    await Promise.all(Array.from({ length: PARALLEL }, work));
  } catch (error) {
    closing.abort();
    throw error;
  }
  return {
    get closed() {
      return closed;
    },
    close: () => closing.abort(),
  };
}

/**
 * Refuses a reading that was taken beside fewer connections than it says.
 *
 * @throws if one of them was closed
 */
export function refuseClosed({ closed }: HeldConnections): void {
  if (closed > 0) throw new Error(`${closed} of the open connections were closed`);
}
