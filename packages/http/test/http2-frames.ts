import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { eventually } from '@gateway/shared/test/eventually';
import { FLAG, FRAME, PREFACE } from '../src/http2/protocol.ts';
import { HpackDecoder } from './hpack-decoder.ts';

export {
  ERROR,
  FIRST_WINDOW,
  FLAG,
  FRAME,
  MAX_WINDOW,
  PREFACE,
  SETTING,
} from '../src/http2/protocol.ts';

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

export type Fields = readonly (readonly [name: string, value: string])[];

/** The flags of a request without a body. */
export const HEAD = FLAG.endHeaders | FLAG.endStream;

/** The pseudo-header fields of a request. */
export function pseudo(method = 'GET', path = '/'): Fields {
  const authority = [':authority', 'gateway.test'] as const;
  return [[':method', method], [':scheme', 'http'], [':path', path], authority];
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

export function uint32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
}

/** A request without a body. */
export function get(stream = 1, more: Fields = []): Buffer {
  return frame(FRAME.headers, HEAD, stream, fieldBlock([...pseudo(), ...more]));
}

/** A request with a body. */
export function post(stream = 1, more: Fields = []): Buffer {
  return frame(FRAME.headers, FLAG.endHeaders, stream, fieldBlock([...pseudo('POST'), ...more]));
}

export function data(text: string | Buffer, flags = 0, stream = 1): Buffer {
  return frame(FRAME.data, flags, stream, Buffer.from(text));
}

export function reset(code = 8, stream = 1): Buffer {
  return frame(FRAME.rstStream, 0, stream, uint32(code));
}

export function windowUpdate(increment: number, stream = 1): Buffer {
  return frame(FRAME.windowUpdate, 0, stream, uint32(increment));
}

export function setting(id: number, value: number): Buffer {
  return Buffer.concat([Buffer.from([id >> 8, id]), uint32(value)]);
}

export function settings(...pairs: readonly (readonly [number, number])[]): Buffer {
  const payload = Buffer.concat(pairs.map(([id, value]) => setting(id, value)));
  return frame(FRAME.settings, 0, 0, payload);
}

/** A field block of literals, without indexing and Huffman coding (RFC 7541 section 6.2.2). */
export function fieldBlock(fields: Fields): Buffer {
  return Buffer.concat(fields.map(([name, value]) => literal(0, name, value)));
}

/** A literal field with a new name: 0 without indexing, 0x40 with it, 0x10 never indexed. */
export function literal(form: number, name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([form]), text(name), text(value)]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  return Buffer.concat([integer(0, 0x7f, bytes.length), bytes]);
}

/** RFC 7541 section 5.1. */
export function integer(form: number, mask: number, value: number): Buffer {
  if (value < mask) return Buffer.from([form | value]);
  const bytes = [form | mask];
  let left = value - mask;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) | 128);
  return Buffer.from([...bytes, left]);
}

/** A raw connection, on which anything can be sent. */
export class FrameClient {
  readonly socket: Socket;
  readonly frames: Frame[] = [];
  isClosed = false;
  /** Whether heads may be in several frames, whose fields are not read then. */
  takesContinuation = false;
  #rest = Buffer.alloc(0);
  readonly #decoder = new HpackDecoder();
  readonly #heads = new Map<Frame, Fields>();

  /** Opens a connection; sends nothing. */
  static async open(port: number): Promise<FrameClient> {
    const client = new FrameClient(connect({ port, host: '127.0.0.1', noDelay: true }));
    await once(client.socket, 'connect');
    return client;
  }

  /** Opens a connection with TLS (ALPN `h2`), and sends the preface and settings. */
  static async openTls(port: number, ca: string): Promise<FrameClient> {
    const options = { port, host: '127.0.0.1', noDelay: true, ca, ALPNProtocols: ['h2'] };
    const socket = connectTls(options);
    const client = new FrameClient(socket);
    await once(socket, 'secureConnect');
    client.start();
    return client;
  }

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (bytes: Buffer) => {
      this.#rest = Buffer.concat([this.#rest, bytes]);
      while (this.#rest.length >= 9 && this.#rest.length >= 9 + this.#rest.readUIntBE(0, 3)) {
        this.#take(9 + this.#rest.readUIntBE(0, 3));
      }
    });
    socket.on('error', () => undefined);
    socket.once('close', () => (this.isClosed = true));
  }

  #take(bytes: number): void {
    const head = this.#rest;
    const [type = 0, flags = 0] = head.subarray(3, 5);
    const stream = head.readUInt32BE(5) & 0x7fff_ffff;
    const found = { type, flags, stream, payload: head.subarray(9, bytes) };
    this.#rest = head.subarray(bytes);
    this.frames.push(found);
    if (type !== FRAME.headers) return;
    if ((flags & FLAG.endHeaders) === 0) {
      if (!this.takesContinuation) throw new Error('a head in several frames');
      return;
    }
    this.#heads.set(found, this.#decoder.decode(found.payload));
  }

  send(...frames: readonly Buffer[]): void {
    this.socket.write(Buffer.concat(frames));
  }

  /** Sends the preface and settings. */
  start(...pairs: readonly (readonly [number, number])[]): void {
    this.send(PREFACE, settings(...pairs));
  }

  /** All frames of a type, of a stream if it is given. */
  of(type: number, stream?: number): readonly Frame[] {
    return this.frames.filter(
      (one) => one.type === type && (stream === undefined || one.stream === stream),
    );
  }

  /** The fields of a HEADERS frame. Of a name that occurs several times, `fields` has the last value. */
  list(of: Frame): Fields {
    return this.#heads.get(of) ?? [];
  }

  fields(of: Frame): Record<string, string> {
    return Object.fromEntries(this.list(of));
  }

  /** The status of the response of a stream. */
  status(stream = 1): string | undefined {
    const [head] = this.of(FRAME.headers, stream);
    return head === undefined ? undefined : this.fields(head)[':status'];
  }

  /** The streams that were reset, each with its code. */
  resets(): (readonly [stream: number, code: number])[] {
    return this.of(FRAME.rstStream).map(({ payload, stream }) => [stream, payload.readUInt32BE(0)]);
  }

  /** Resolves with the first frame of this type, with these flags. */
  frame(type: number, stream?: number, flags = 0): Promise<Frame> {
    return eventually(
      () => {
        const found = this.of(type, stream).find((one) => (one.flags & flags) === flags);
        if (found === undefined) throw new Error(`no frame ${type} of ${stream ?? 'any stream'}`);
        return found;
      },
      { intervalMs: 1, deadlineMs: 5000 },
    );
  }

  /** Resolves with the body of a stream when it has ended. */
  async body(stream = 1): Promise<string> {
    await this.ended(stream);
    return Buffer.concat(this.of(FRAME.data, stream).map(({ payload }) => payload)).toString();
  }

  /** Resolves when a stream has ended with END_STREAM. */
  ended(stream = 1): Promise<void> {
    return this.#ends(stream, [FRAME.data, FRAME.headers]);
  }

  /** Resolves when a stream has ended with END_STREAM, or with a reset. */
  over(stream = 1): Promise<void> {
    return this.#ends(stream, [FRAME.data, FRAME.headers, FRAME.rstStream]);
  }

  #ends(stream: number, types: readonly number[]): Promise<void> {
    return eventually(
      () => {
        const ends = this.frames.some(({ type, stream: id, flags }) => {
          const isEnd = type === FRAME.rstStream || flags % 2 === 1;
          return id === stream && isEnd && types.includes(type);
        });
        if (!ends) throw new Error(`stream ${stream} has not ended`);
      },
      { intervalMs: 1, deadlineMs: 5000 },
    );
  }

  /** Resolves when all that was sent has been handled: a ping is answered. */
  async settled(): Promise<void> {
    const mark = uint32(0x706f_6e67, this.frames.length);
    this.send(frame(FRAME.ping, 0, 0, mark));
    await eventually(
      () => {
        const isAnswered = this.of(FRAME.ping).some(({ payload }) => payload.equals(mark));
        if (!isAnswered && !this.isClosed) throw new Error('the ping is not answered');
      },
      { intervalMs: 1, deadlineMs: 5000 },
    );
  }

  /** Resolves with the code of GOAWAY, when the connection is closed. */
  async goneWith(): Promise<number> {
    const { payload } = await this.frame(FRAME.goAway);
    await eventually(() => {
      if (!this.isClosed) throw new Error('the connection is open');
    });
    return payload.readUInt32BE(4);
  }

  destroy(): void {
    this.socket.destroy();
  }
}
