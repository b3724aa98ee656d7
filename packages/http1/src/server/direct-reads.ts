import { Socket, type SocketConstructorOpts } from 'node:net';
import { READ_BUFFER, readBytes, toKeep } from '../message/read-buffer.ts';

/** Takes what has come, good until the call returns. */
export type TakeBytes = (bytes: Buffer) => void;

/** A connection of a caller, and the way in which it is read. */
export interface ReadSocket {
  readonly socket: Socket;
  /**
   * From now on this one takes what comes. undefined: it is paused, to be read from the socket as from
   * any stream.
   */
  readonly readBy: (take: TakeBytes | undefined) => void;
}

/** What node:net keeps of an open connection; not part of its documented interface. */
interface WithHandle {
  _handle?: object | null;
}

/**
 * Reads a plain connection straight into `READ_BUFFER`, without a stream between: that one took more than
 * a tenth of the CPU time of a request at saturation (docs/adr/0021).
 *
 * node:net offers this (`onread`) for sockets that one opens, not for those that a server accepts. So the
 * accepted one gives its handle to one of ours, and stays behind for the server to count: it closes
 * when ours does. One that is closed already has none to give, and that of TLS belongs to its own class:
 * these are read as streams.
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
      if (take === undefined) return socket.push(toKeep(bytes));
      take(bytes);
      return true;
    },
  };
  const socket = new Socket({ handle, onread } as SocketConstructorOpts);
  // To be asked for at the first request, when a caller may have reset it; then no system tells it any more.
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
