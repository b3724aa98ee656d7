import type { Socket } from 'node:net';
import { DirectReads, type TakeBytes } from '../message/read-buffer.ts';
import type { ReadSocket } from './read-socket.ts';

/** The handle of an open connection, which is not documented by node:net. */
interface ReadingHandle {
  useUserBuffer?: (buffer: Uint8Array) => void;
}

/** The two properties with which node:net implements `onread`. */
interface OnRead {
  readonly buffer: symbol;
  readonly callback: symbol;
}

/** Found at the first connection; undefined if this Node has no such properties. */
let onRead: OnRead | undefined;
let isProbed = false;

/**
 * Reads an accepted connection, plain or TLS, directly into `READ_BUFFER`. It saves a buffer, an event and the work of a
 * stream for each read, which took more than a tenth of the CPU time of a request at saturation (docs/adr/0021).
 *
 * node:net offers this (`onread`) only for sockets that a client opens, but its implementation works for the handle of
 * any socket. A connection is read as a stream if this version of Node implements `onread` in another way, if bytes have
 * arrived before, or if it is closed.
 */
export function readDirectly(socket: Socket): ReadSocket {
  const handle = (socket as { _handle?: ReadingHandle | null })._handle;
  if (!isProbed) {
    isProbed = true;
    onRead = findOnRead(socket);
  }
  if (typeof handle?.useUserBuffer !== 'function') return readAsStream(socket);
  if (onRead === undefined || socket.readableLength > 0) return readAsStream(socket);
  const reads = new DirectReads();
  const properties = socket as unknown as Record<symbol, unknown>;
  properties[onRead.buffer] = reads.buffer;
  properties[onRead.callback] = reads.callback;
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
