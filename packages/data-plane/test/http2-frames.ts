import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import { eventually } from '@gateway/shared/test/eventually';

/** Frame types and flags of RFC 9113 sections 6 and 7. */
export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;
export const FLAG = { endStream: 1, ack: 1, endHeaders: 4 } as const;

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** A raw HTTP/2 connection, on which anything can be sent. */
export interface FrameConnection {
  readonly socket: TLSSocket;
  readonly closed: boolean;
  readonly frames: readonly Frame[];
  send(type: number, flags: number, stream: number, payload?: Buffer): void;
  /** Sends many frames in one write. */
  sendAll(frames: readonly Buffer[]): void;
  /** Resolves with the first frame of this type, on this stream if it is given. */
  frame(type: number, stream?: number): Promise<Frame>;
  destroy(): void;
}

/** Opens a connection and sends the preface and empty settings (RFC 9113 section 3.4). */
export async function frameConnection(port: number, ca: string): Promise<FrameConnection> {
  const socket = connect({ port, host: '127.0.0.1', ca, ALPNProtocols: ['h2'] });
  const frames: Frame[] = [];
  let rest = Buffer.alloc(0);
  let closed = false;
  socket.on('data', (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      const length = rest.readUIntBE(0, 3);
      const [type = 0, flags = 0] = rest.subarray(3, 5);
      const payload = rest.subarray(9, 9 + length);
      frames.push({ type, flags, stream: rest.readUInt32BE(5) & 0x7fffffff, payload });
      rest = rest.subarray(9 + length);
    }
  });
  socket.on('error', () => undefined);
  socket.once('close', () => (closed = true));
  await once(socket, 'secureConnect');
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  socket.write(frame(FRAME.settings, 0, 0));
  return {
    socket,
    get closed() {
      return closed;
    },
    frames,
    send: (type, flags, stream, payload) => void socket.write(frame(type, flags, stream, payload)),
    sendAll: (all) => void socket.write(Buffer.concat(all)),
    frame: (type, stream) =>
      eventually(
        () => {
          const found = frames.find(
            (one) => one.type === type && (stream === undefined || one.stream === stream),
          );
          if (found === undefined) throw new Error(`no frame ${type} of ${stream ?? 'any stream'}`);
          return found;
        },
        { intervalMs: 2, deadlineMs: 4000 },
      ),
    destroy: () => void socket.destroy(),
  };
}

/** The bytes of a frame. */
export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** An integer of four bytes: a window, an error code or a stream. */
export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A field block of literal fields, without indexing and Huffman coding (RFC 7541 section 6.2.2). */
export function fieldBlock(fields: readonly (readonly [string, string])[]): Buffer {
  return Buffer.concat(
    fields.map(([name, value]) => Buffer.concat([Buffer.from([0]), text(name), text(value)])),
  );
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  return Buffer.concat([integer(bytes.length), bytes]);
}

/** An integer with a prefix of seven bits (RFC 7541 section 5.1). */
function integer(value: number): Buffer {
  if (value < 127) return Buffer.from([value]);
  const bytes = [127];
  let left = value - 127;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) | 128);
  return Buffer.from([...bytes, left]);
}
