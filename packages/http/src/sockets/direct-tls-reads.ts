import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { READ_BUFFER, readBytes, toStayValid } from '../message/read-buffer.ts';
import type { ReadSocket, TakeBytes } from './read-socket.ts';

/** The handle of a socket, which is not documented by node:net. */
interface ReadingHandle {
  useUserBuffer?: (buffer: Uint8Array) => void;
}

/** The two properties with which node:net implements `onread`. */
interface OnRead {
  readonly buffer: symbol;
  readonly callback: symbol;
}

/** Found at the first TLS connection; undefined if this Node has no such properties. */
let onRead: OnRead | undefined;
let isProbed = false;

/**
 * Reads a TLS connection directly into `READ_BUFFER`, like a plain one: node:net offers this (`onread`) for sockets that
 * a client opens, and its implementation works for the handle of any socket. It saves a buffer, an event and the work of
 * a stream for each read.
 *
 * Returns undefined if this version of Node implements `onread` in another way, or bytes have arrived before; then the
 * connection is read as a stream.
 */
export function readTlsDirectly(socket: TLSSocket): ReadSocket | undefined {
  const handle = (socket as { _handle?: ReadingHandle | null })._handle;
  if (!isProbed) {
    isProbed = true;
    onRead = findOnRead(socket);
  }
  if (typeof handle?.useUserBuffer !== 'function') return undefined;
  if (onRead === undefined || socket.readableLength > 0) return undefined;
  let take: TakeBytes | undefined;
  const callback = (length: number) => {
    const bytes = readBytes(length);
    if (take === undefined) return socket.push(toStayValid(bytes));
    take(bytes);
    return true;
  };
  Object.assign(socket, { [onRead.buffer]: READ_BUFFER, [onRead.callback]: callback });
  handle.useUserBuffer(READ_BUFFER);
  return {
    socket,
    address: socket.remoteAddress ?? '',
    readBy(next) {
      take = next;
      if (next === undefined) socket.pause();
      else socket.resume();
    },
  };
}

/** Both properties are null in every socket that was not made with `onread`. */
function findOnRead(socket: Socket): OnRead | undefined {
  const symbols = Object.getOwnPropertySymbols(socket);
  const find = (description: string) => {
    const found = symbols.filter((symbol) => symbol.description === description);
    const [only] = found;
    return found.length === 1 && only !== undefined && Reflect.get(socket, only) === null
      ? only
      : undefined;
  };
  const buffer = find('kBuffer');
  const callback = find('kBufferCb');
  return buffer === undefined || callback === undefined ? undefined : { buffer, callback };
}
