import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { afterEach, beforeEach } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { closeAfterEach } from '@gateway/shared/test/opened';
import type { Clock } from '../src/clock.ts';
import type { BodySource, End, ServerExchange } from '../src/exchange.ts';
import type { BodilessRefusal, ConnectionLimits } from '../src/http2/options.ts';
import { FLAG, FRAME } from '../src/http2/protocol.ts';
import { Http2Server } from '../src/http2/server.ts';
import type { TakeBytes } from '../src/message/read-buffer.ts';
import { readDirectly } from '../src/sockets/direct-reads.ts';
import { frame, FrameClient } from './http2-frames.ts';

export const LIMITS: ConnectionLimits = {
  maxHeaderBytes: 4096,
  maxFields: 64,
  maxConcurrentStreams: 32,
  maxResetsPerMinute: 40,
  headTimeoutMs: 10_000,
  keepAliveTimeoutMs: 60_000,
  stalledTimeoutMs: 30_000,
  minSendBytesPerSecond: 100,
};

interface WorldOptions {
  readonly clock?: Clock;
  readonly limits?: Partial<ConnectionLimits>;
  readonly maxWindowBytes?: number;
  readonly webSocketKey?: () => string;
}

/** A server on a port without TLS, and connections to it. */
export interface Http2World {
  /** Called for each request; a test sets it. The first one answers with the body of the request. */
  onExchange: (exchange: ServerExchange) => void;
  readonly server: Http2Server;
  readonly port: number;
  /** The requests so far, with how they ended. */
  readonly seen: { readonly exchange: ServerExchange; end: End | undefined }[];
  readonly internalErrors: unknown[];
  /** Reasons of connections that ended, and of requests that were refused. */
  readonly ended: string[];
  readonly refused: string[];
  /** Makes the response to a request that is not handled; a test sets it. undefined: it is reset. */
  unhandled: ((contentType: string | undefined) => BodilessRefusal | undefined) | undefined;
  /** Lets the requests from now on wait for their answer by the test. */
  holdAll(): ServerExchange[];
  /** Opens a connection, which sends the preface and settings. */
  connect(...settings: readonly (readonly [number, number])[]): Promise<FrameClient>;
  /** As `connect`. The settings of the server are acknowledged, so that no time-out waits for that. */
  acknowledged(...settings: readonly (readonly [number, number])[]): Promise<FrameClient>;
  /** Opens a connection that sends nothing. */
  open(): Promise<FrameClient>;
  /**
   * Opens a connection whose reads are the calls of `receive`, and whose socket takes what is written when `write` calls
   * its argument.
   */
  accept(write: (done: () => void) => void): {
    readonly socket: Duplex;
    readonly receive: (bytes: Buffer) => void;
  };
}

/** Starts a server before each test and closes it after it. Called once, at the top of a test file. */
export function serveHttp2EachTest(options: WorldOptions = {}): Http2World {
  const opened = closeAfterEach();
  let listener: Server;
  let server: Http2Server | undefined;
  const world = {
    onExchange: echo,
    get server() {
      if (server === undefined) throw new Error('no server');
      return server;
    },
    get port() {
      return (listener.address() as AddressInfo).port;
    },
    seen: [] as Http2World['seen'],
    internalErrors: [] as unknown[],
    ended: [] as string[],
    refused: [] as string[],
    unhandled: undefined as Http2World['unhandled'],
    holdAll() {
      const held: ServerExchange[] = [];
      world.onExchange = (exchange) => void held.push(exchange);
      return held;
    },
    async open() {
      return opened(await FrameClient.open(world.port));
    },
    accept(write: (done: () => void) => void) {
      const socket = new Duplex({
        read: () => undefined,
        write: (_bytes, _encoding, done) => {
          write(done);
        },
      });
      socket.resume();
      let take: TakeBytes | undefined;
      const readBy = (next: TakeBytes) => void (take = next);
      world.server.accept({ socket: socket as Socket, address: '', readBy }, (reason) => {
        world.ended.push(reason);
      });
      return { socket, receive: (bytes: Buffer) => take?.(bytes) };
    },
    async connect(...pairs: readonly (readonly [number, number])[]) {
      const client = await world.open();
      client.start(...pairs);
      return client;
    },
    async acknowledged(...pairs: readonly (readonly [number, number])[]) {
      const client = await world.connect(...pairs);
      client.send(frame(FRAME.settings, FLAG.ack, 0));
      await client.settled();
      return client;
    },
  };
  beforeEach(async () => {
    world.onExchange = echo;
    world.unhandled = undefined;
    for (const list of [world.seen, world.internalErrors, world.ended, world.refused]) {
      list.length = 0;
    }
    const made = new Http2Server({
      clock: options.clock ?? systemClock,
      limits: { ...LIMITS, ...options.limits },
      maxWindowBytes: options.maxWindowBytes ?? 64 * 1024 * 1024,
      webSocketKey: options.webSocketKey,
      onExchange(exchange) {
        const entry: Http2World['seen'][number] = { exchange, end: undefined };
        world.seen.push(entry);
        exchange.handler = {
          writable: () => undefined,
          closed: (end) => (entry.end = end),
        };
        world.onExchange(exchange);
      },
      internalError: (error) => void world.internalErrors.push(error),
      refused: (reason) => void world.refused.push(reason),
      unhandled: (_address, contentType) => world.unhandled?.(contentType),
      refusal: () => ({ status: 431, fields: ['content-length', '3'], body: 'no\n' }),
    });
    server = made;
    listener = createServer(
      { noDelay: true },
      (socket) => void made.accept(readDirectly(socket), (reason) => void world.ended.push(reason)),
    );
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
  });
  afterEach(() => {
    server?.destroy();
    listener.close();
  });
  return world;
}

/** Answers with the body of the request, or with `hello` if it is empty, when it has arrived. */
export function echo(exchange: ServerExchange): void {
  void collect(exchange.body).then(
    (body) => {
      exchange.respond(200, '', ['content-type', 'text/plain'], false);
      exchange.send(body.length > 0 ? body : 'hello', true);
    },
    () => undefined,
  );
}

/** The whole body. Rejects with how it ended if it is incomplete. */
export function collect(body: BodySource): Promise<Buffer> {
  const parts: Buffer[] = [];
  return new Promise((resolve, reject) => {
    body.start({
      data(bytes, last) {
        parts.push(Buffer.from(bytes as string, 'latin1'));
        if (last) resolve(Buffer.concat(parts));
      },
      failed: (end) => {
        reject(new Error(end));
      },
    });
  });
}
