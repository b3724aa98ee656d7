import { Socket, type SocketConstructorOpts } from 'node:net';
import { TLSSocket } from 'node:tls';
import { DirectReads, type TakeBytes } from '../message/read-buffer.ts';
import { readTlsDirectly } from './direct-tls-reads.ts';
import type { ReadSocket } from './read-socket.ts';

/** The handle of an open connection, which is not documented by node:net. */
interface WithHandle {
  _handle?: object | null;
}

/**
 * Reads a plain connection directly into `READ_BUFFER`, without a stream, which took more than a tenth of the CPU time
 * of a request at saturation (docs/adr/0021).
 *
 * node:net supports this (`onread`) for sockets that a client opens, not for those that a server accepts. Therefore the
 * handle of the accepted socket moves to a new one. The accepted socket stays open for the server to count, and closes
 * with the new one. A closed socket has no handle and is read as a stream. The handle of a TLS socket belongs to its
 * class; it is told to read into the buffer (`direct-tls-reads.ts`).
 */
export function readDirectly(accepted: Socket): ReadSocket {
  const holder = accepted as WithHandle;
  const address = accepted.remoteAddress ?? '';
  const handle = holder._handle;
  if (accepted.constructor !== Socket || handle === undefined || handle === null) {
    const direct = accepted instanceof TLSSocket ? readTlsDirectly(accepted) : undefined;
    return direct ?? readAsStream(accepted);
  }
  holder._handle = null;
  const reads = new DirectReads();
  const socket = new Socket({ handle, onread: reads } as SocketConstructorOpts);
  socket.once('close', () => accepted.destroy());
  return {
    socket,
    address,
    readBy(take) {
      reads.readBy(take);
      socket.resume();
    },
  };
}

function readAsStream(socket: Socket): ReadSocket {
  let take: TakeBytes | undefined;
  return {
    socket,
    address: socket.remoteAddress ?? '',
    readBy(next) {
      if (take !== undefined) socket.off('data', take);
      take = next;
      socket.on('data', next).resume();
    },
  };
}
