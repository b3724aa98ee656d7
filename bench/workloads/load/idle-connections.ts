import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface IdleConnections {
  readonly url: string;
  readonly authorization: string;
  readonly count: number;
  readonly signal: AbortSignal;
}

/** How many are opened at a time; a queue of unaccepted connections has a limit. */
const PARALLEL = 50;

/**
 * Opens connections that have one request each and then stay open.
 *
 * @throws if a response is not 200
 */
export async function openIdleConnections(
  idle: IdleConnections,
): Promise<{ readonly close: () => void }> {
  const sockets: Socket[] = [];
  const close = () => {
    for (const socket of sockets) socket.destroy();
  };
  let left = idle.count;
  const work = async () => {
    while (left > 0) {
      left -= 1;
      idle.signal.throwIfAborted();
      sockets.push(await openOne(idle));
    }
  };
  try {
    await Promise.all(Array.from({ length: PARALLEL }, work));
  } catch (error) {
    close();
    throw error;
  }
  return { close };
}

async function openOne({ url, authorization }: IdleConnections): Promise<Socket> {
  const { hostname, port, pathname, host } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  socket.write(
    `GET ${pathname} HTTP/1.1\r\nhost: ${host}\r\nauthorization: ${authorization}\r\n\r\n`,
  );
  const [answer] = (await once(socket, 'data')) as [Buffer];
  if (!answer.toString('latin1').startsWith('HTTP/1.1 200 ')) {
    socket.destroy();
    throw new Error(`an idle connection was refused: ${answer.toString('latin1', 0, 80)}`);
  }
  // What else arrives is dropped.
  socket.resume();
  return socket;
}
