import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, beforeEach } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection } from '@gateway/shared/test/raw-client';
import type { BodySink, End } from '@gateway/http/exchange';
import type { Http1Exchange } from '@gateway/http/http1/server/exchange';
import { readDirectly } from '@gateway/http/sockets/direct-reads';
import { createHttp1Server, type Http1Server } from '@gateway/http/http1/server/server';

export const POST = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ';
export const CHUNKED = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
export const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

export type OnExchange = (exchange: Http1Exchange) => void;

/** A server on a port, and connections to it. */
export interface Http1World {
  /** Called for each request; a test sets it. */
  onExchange: OnExchange;
  /** What was reported for connections. */
  internalErrors: unknown[];
  /** How many connections were cut because their callers did not stop sending. */
  cuts: number;
  /** With `allowHalfOpen` the client never closes its side by itself. */
  open(allowHalfOpen?: boolean): ReturnType<typeof rawConnection>;
}

/** Starts a server before each test and closes it after it. Called once, at the top of a test file. */
export function serveEachTest({ lingerTimeoutMs = 300 } = {}): Http1World {
  const opened = closeAfterEach();
  let server: Server;
  let http1: Http1Server;
  const world: Http1World = {
    onExchange: () => undefined,
    internalErrors: [],
    cuts: 0,
    open: async (allowHalfOpen) =>
      opened(await rawConnection((server.address() as AddressInfo).port, allowHalfOpen)),
  };
  beforeEach(async () => {
    world.internalErrors = [];
    world.cuts = 0;
    http1 = createHttp1Server({
      clock: systemClock,
      maxHeaderBytes: 1000,
      maxHeaderLines: 100,
      lingerTimeoutMs,
      cut: () => void (world.cuts += 1),
      onExchange: (exchange) => {
        world.onExchange(exchange);
      },
      internalError: (error) => void world.internalErrors.push(error),
      refused: () => undefined,
      refusal: () => ({ status: 400, fields: ['Content-Length', '0'], body: '' }),
    });
    server = createServer((socket) => void http1.accept(readDirectly(socket)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    http1.destroy();
    server.close();
  });
  return world;
}

/** Sends a complete response. */
export function respond(exchange: Http1Exchange, text: string, fields: string[] = []): void {
  exchange.respond(200, 'OK', ['Content-Length', String(text.length), ...fields], false);
  exchange.send(text, true);
}

/** Calls back when nothing more is sent. */
export function onClosed(exchange: Http1Exchange, closed: (end: End) => void): void {
  exchange.handler = { writable: () => undefined, closed };
}

/** A reader of a body. */
export function sink({ data, failed }: Partial<BodySink>): BodySink {
  return { data: data ?? (() => undefined), failed: failed ?? (() => undefined) };
}
