import { lookup } from 'node:dns';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import type { Clock } from '../src/clock.ts';
import type {
  ClientHandler,
  ClientRequest,
  ClientStream,
  ExchangeFailure,
} from '../src/exchange.ts';
import { toBuffer, type BodyBytes } from '../src/message/body-bytes.ts';
import type { HeaderFields } from '../src/fields/header-fields.ts';
import type { ResponseHead } from '../src/message/response-head.ts';
import { connect } from '../src/sockets/connect.ts';
import { Http2Client } from '../src/http2/client/client.ts';
import type { Http2ClientConnection } from '../src/http2/client/connection.ts';
import type { ClientLimits } from '../src/http2/client/options.ts';
import { FLAG, FRAME, PREFACE } from '../src/http2/protocol.ts';
import { fieldBlock, frame, FrameClient, settings, type Fields } from './http2-frames.ts';

const GET: ClientRequest = {
  method: 'GET',
  path: '/',
  fields: [],
  body: null,
  contentLength: undefined,
};

/** A head of a response. */
export function answer(stream = 1, flags: number = FLAG.endHeaders, more: Fields = []): Buffer {
  return frame(FRAME.headers, flags, stream, fieldBlock([[':status', '200'], ...more]));
}

/** An exchange, with all that its handler was told. */
export class Exchange implements ClientHandler {
  readonly hinted: HeaderFields[] = [];
  readonly calls: string[] = [];
  readonly parts: Buffer[] = [];
  response: ResponseHead | undefined = undefined;
  trailers: HeaderFields | undefined = undefined;
  /** `complete`, or why it failed and whether the server may have acted on it. */
  end: 'complete' | readonly [ExchangeFailure, boolean] | undefined = undefined;
  stream: ClientStream | undefined = undefined;

  readonly hints = {
    hints: (fields: HeaderFields) => void this.hinted.push(fields),
  };

  head(head: ResponseHead, last: boolean): void {
    this.#note('head', last);
    this.response = head;
  }

  data(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): void {
    this.#note('data', last);
    this.parts.push(Buffer.from(toBuffer(bytes)));
    this.trailers = trailers;
  }

  delivered(): void {
    this.calls.push('delivered');
  }

  failed(why: ExchangeFailure, mayHaveReachedServer: boolean): void {
    if (this.end !== undefined) throw new Error(`failed after ${String(this.end)}`);
    this.end = [why, mayHaveReachedServer];
  }

  #note(call: string, last: boolean): void {
    if (this.end !== undefined) throw new Error(`${call} after ${String(this.end)}`);
    this.calls.push(last ? `${call}, last` : call);
    if (last) this.end = 'complete';
  }

  get body(): Buffer {
    return Buffer.concat(this.parts);
  }

  /** Resolves with how it ended. */
  ended(): Promise<unknown> {
    return eventually(
      () => {
        if (this.end === undefined) throw new Error(`in progress: ${this.calls.join(' ')}`);
        return this.end;
      },
      { intervalMs: 1, deadlineMs: 5000 },
    );
  }
}

export interface ClientWorld {
  readonly client: Http2Client;
  /** What owners and the client were told. */
  readonly ended: string[];
  readonly internalErrors: unknown[];
  freed: number;
  announced: number;
  closed: number;
  /** Opens a connection to a server that speaks HTTP/2 without TLS. */
  open(port: number): Promise<Http2ClientConnection>;
  /** Opens a connection to a server of which the test sends each frame. Its settings are sent unless `silent`. */
  connect(...pairs: readonly (readonly [number, number])[]): Promise<RawConnection>;
  connectSilently(): Promise<RawConnection>;
  send(connection: Http2ClientConnection, request?: Partial<ClientRequest>): Exchange;
}

export interface RawConnection {
  readonly connection: Http2ClientConnection;
  readonly peer: FrameClient;
}

interface WorldOptions {
  readonly clock?: Clock;
  readonly limits?: Partial<ClientLimits>;
  readonly maxWindowBytes?: number;
}

/** A client of HTTP/2, made before each test and destroyed after it. Called once, at the top of a test file. */
export function http2ClientEachTest({
  clock = systemClock,
  limits = {},
  maxWindowBytes = 64 * 1024 * 1024,
}: WorldOptions = {}): ClientWorld {
  const opened = closeAfterEach();
  let client: Http2Client | undefined;
  let listener: Server;
  const accepted: Socket[] = [];
  let tests = 0;
  const world = {
    get client() {
      if (client === undefined) throw new Error('no client');
      return client;
    },
    ended: [] as string[],
    internalErrors: [] as unknown[],
    freed: 0,
    announced: 0,
    closed: 0,
    open(port: number): Promise<Http2ClientConnection> {
      const ofTest = tests;
      const origin = new URL(`http://127.0.0.1:${port}`);
      return new Promise((resolve, reject) => {
        connect({ origin, timeoutMs: 60_000, lookup, clock }, (...[connected]) => {
          if (connected === undefined) reject(new Error('not connected'));
          else {
            resolve(
              world.client.open(connected, {
                host: 'a.test',
                freed: () => void (world.freed += 1),
                closed: () => {
                  // A connection of an earlier test may close late.
                  if (ofTest === tests) world.closed += 1;
                },
                announcedEnd: () => void (world.announced += 1),
                internalError: (error) => void world.internalErrors.push(error),
              }),
            );
          }
        });
      });
    },
    async connectSilently(): Promise<RawConnection> {
      const connection = await world.open((listener.address() as AddressInfo).port);
      const socket = await eventually(
        () => {
          const next = accepted.shift();
          if (next === undefined) throw new Error('no connection');
          return next;
        },
        { intervalMs: 1 },
      );
      return { connection, peer: opened(await readPreface(socket)) };
    },
    async connect(...pairs: readonly (readonly [number, number])[]): Promise<RawConnection> {
      const raw = await world.connectSilently();
      raw.peer.send(settings(...pairs), frame(FRAME.settings, FLAG.ack, 0));
      await raw.peer.frame(FRAME.settings, 0, FLAG.ack);
      return raw;
    },
    send(connection: Http2ClientConnection, request: Partial<ClientRequest> = {}): Exchange {
      const exchange = new Exchange();
      exchange.stream = connection.carry({ ...GET, hints: exchange.hints, ...request }, exchange);
      return exchange;
    },
  };
  beforeEach(async () => {
    tests += 1;
    world.ended.length = world.internalErrors.length = accepted.length = 0;
    world.freed = world.announced = world.closed = 0;
    client = new Http2Client({
      clock,
      limits,
      maxWindowBytes,
      ended: (reason) => void world.ended.push(reason),
    });
    listener = createServer({ noDelay: true }, (socket) => void accepted.push(socket));
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
  });
  afterEach(() => {
    client?.destroy();
    listener.close();
  });
  return world;
}

/** Reads what a client sends first, and leaves the rest to what is returned. */
async function readPreface(socket: Socket): Promise<FrameClient> {
  let bytes = Buffer.alloc(0);
  while (bytes.length < PREFACE.length) {
    const [part] = (await once(socket, 'data')) as [Buffer];
    bytes = Buffer.concat([bytes, part]);
  }
  if (!bytes.subarray(0, PREFACE.length).equals(PREFACE)) throw new Error('no preface');
  const peer = new FrameClient(socket);
  socket.emit('data', bytes.subarray(PREFACE.length));
  return peer;
}
