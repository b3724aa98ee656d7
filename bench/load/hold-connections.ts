import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Target } from './wrk.ts';

/** Connections that are opened together and closed together. */
export interface HeldConnections {
  /** How many the other side has closed, or an error. */
  readonly closed: number;
  readonly close: () => void;
}

/** How many are opened at a time; a queue of unaccepted connections has a limit. */
const PARALLEL = 50;

/**
 * Opens so many connections, which send one GET each and then stay open. No socket outlives the signal, a failure to open
 * one, or `close`; also none that is opened at that moment.
 *
 * @param received called with what arrives after the beginning of the response; without it that is dropped
 * @throws if a response is not 200
 */
export async function holdConnections(
  target: Target,
  count: number,
  signal: AbortSignal,
  received: (bytes: Buffer) => void = () => undefined,
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
      const socket = await openOne(target, ended);
      socket.on('data', received);
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

async function openOne({ url, authorization }: Target, signal: AbortSignal): Promise<Socket> {
  const { hostname, port, pathname, host } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), signal });
  socket.on('error', () => undefined);
  socket.write(
    `GET ${pathname} HTTP/1.1\r\nhost: ${host}\r\nauthorization: ${authorization}\r\n\r\n`,
  );
  const closed = once(socket, 'close').then(() => {
    throw new Error('a connection was closed without a response');
  });
  const [bytes] = (await Promise.race([once(socket, 'data'), closed])) as [Buffer];
  const answer = bytes.toString('latin1', 0, 80);
  if (!answer.startsWith('HTTP/1.1 200 ')) throw new Error(`a held connection got ${answer}`);
  return socket;
}

/**
 * Refuses a reading that was taken beside fewer connections than it says.
 *
 * @throws if one of them was closed
 */
export function refuseClosed({ closed }: HeldConnections): void {
  if (closed > 0) throw new Error(`${closed} of the open connections were closed`);
}
