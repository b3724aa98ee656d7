import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { DirectReads } from '../message/read-buffer.ts';
import type { ReadSocket } from './read-socket.ts';

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
  const reads = new DirectReads();
  Object.assign(socket, { [onRead.buffer]: reads.buffer, [onRead.callback]: reads.callback });
  handle.useUserBuffer(reads.buffer);
  return {
    socket,
    address: socket.remoteAddress ?? '',
    readBy(take) {
      reads.readBy(take);
      socket.resume();
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
