/** An HTTP/2 server without TLS, in a process of its own, that answers each request with 80 bytes. Sends its port. */
import { createServer, type AddressInfo } from 'node:net';
import { Http2Server } from '@gateway/http/http2/server';
import { readDirectly } from '@gateway/http/sockets/direct-reads';
import { systemClock } from '@gateway/shared/clock';

const BODY = 'x'.repeat(80);
const FIELDS = ['content-type', 'application/json', 'content-length', String(BODY.length)];
const FOREVER_MS = 2 ** 30;

const server = new Http2Server({
  clock: systemClock,
  limits: {
    maxHeaderBytes: 16_384,
    maxFields: 100,
    maxConcurrentStreams: 250,
    maxResetsPerMinute: 1000,
    headTimeoutMs: 10_000,
    keepAliveTimeoutMs: FOREVER_MS,
    stalledTimeoutMs: 30_000,
    minSendBytesPerSecond: 100,
  },
  maxWindowBytes: 64 * 1024 * 1024,
  webSocketKey: undefined,
  onExchange(exchange) {
    exchange.body.discard();
    exchange.respond(200, '', FIELDS, false);
    exchange.send(BODY, true);
  },
  internalError(error) {
    throw error;
  },
  refused: () => undefined,
  refusal: () => ({ status: 400, fields: [], body: '' }),
  unhandled: () => undefined,
});
const listener = createServer({ noDelay: true }, (socket) => {
  server.accept(readDirectly(socket), () => undefined);
});
listener.listen(0, '127.0.0.1', () => {
  process.send?.((listener.address() as AddressInfo).port);
});
process.on('disconnect', () => {
  process.exit();
});
