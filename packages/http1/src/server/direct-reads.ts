import { Socket, type SocketConstructorOpts } from 'node:net';
import { READ_BUFFER, readBytes, toStayValid } from '../message/read-buffer.ts';

/** Takes bytes that arrived, valid until the call returns. */
export type TakeBytes = (bytes: Buffer) => void;

/** A connection of a caller, and how it is read. */
export interface ReadSocket {
  readonly socket: Socket;
  /** Sets who takes what arrives. undefined: nobody; the socket is paused, to be read as any stream. */
  readonly readBy: (take: TakeBytes | undefined) => void;
}

/** What node:net keeps of an open connection; not part of its documented interface. */
interface WithHandle {
  _handle?: object | null;
}

/**
 * Reads a plain connection straight into `READ_BUFFER`, without a stream between: the stream took more than a tenth of
 * the CPU time of a request at saturation (docs/adr/0021).
 *
 * node:net offers this (`onread`) for sockets that a client opens, not for those that a server accepts. So the accepted
 * socket gives its handle to a new one, and stays for the server to count: it closes when the new one does. A socket
 * that is closed already has no handle to give, and the handle of a TLS socket belongs to its class: these are read as
 * streams.
 */
export function readDirectly(accepted: Socket): ReadSocket {
  const holder = accepted as WithHandle;
  const { remoteAddress } = accepted;
  const handle = holder._handle;
  if (accepted.constructor !== Socket || handle === undefined || handle === null)
    return readAsStream(accepted);
  holder._handle = null;
  let take: TakeBytes | undefined;
  const onread = {
    buffer: READ_BUFFER,
    callback(length: number) {
      const bytes = readBytes(length);
      if (take === undefined) return socket.push(toStayValid(bytes));
      take(bytes);
      return true;
    },
  };
  const socket = new Socket({ handle, onread } as SocketConstructorOpts);
  // Read now: after a reset, which may come before the first request is handled, the system no longer knows it.
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
  socket.once('close', () => accepted.destroy());
  return {
    socket,
    readBy(next) {
      take = next;
      if (next === undefined) socket.pause();
      else socket.resume();
    },
  };
}

function readAsStream(socket: Socket): ReadSocket {
  let take: TakeBytes | undefined;
  return {
    socket,
    readBy(next) {
      if (take !== undefined) socket.off('data', take);
      take = next;
      if (next === undefined) socket.pause();
      else socket.on('data', next).resume();
    },
  };
}
