/**
 * A gRPC server over HTTP/2 without TLS, in a process of its own. A call whose first message has 4 bytes, a number, gets so
 * many messages; other calls get their messages back. Each message is a frame of its own, as servers send them whose messages
 * do not all exist at once. What is not gRPC gets the answer of every row.
 */
import { createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { ANSWER } from './answer.ts';
import { GRPC, message, MESSAGE_BYTES, PREFIX_BYTES } from './grpc-message.ts';

/** Also room for the messages of a turn of the loop, of all streams. */
const WINDOW_BYTES = 1024 * 1024;
const ORDER_BYTES = 4;

function sendMessages(stream: ServerHttp2Stream, count: number): void {
  const bytes = message(Buffer.alloc(MESSAGE_BYTES, 'm'));
  let left = count;
  const sendNext = () => {
    if (stream.destroyed) return;
    if (left === 0) {
      stream.end();
      return;
    }
    left -= 1;
    if (stream.write(bytes)) setImmediate(sendNext);
    else stream.once('drain', sendNext);
  };
  sendNext();
}

const server = createServer({ settings: { initialWindowSize: WINDOW_BYTES } });
server.on('session', (session) => session.setLocalWindowSize(WINDOW_BYTES));
server.on('stream', (stream: ServerHttp2Stream, headers) => {
  stream.on('error', () => undefined);
  if (headers['content-type'] !== GRPC) {
    stream.respond({ ':status': 200 });
    stream.end(ANSWER);
    return;
  }
  stream.respond({ ':status': 200, 'content-type': GRPC }, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.once('data', (first: Buffer) => {
    if (first.length === PREFIX_BYTES + ORDER_BYTES) {
      sendMessages(stream, first.readUInt32BE(PREFIX_BYTES));
      stream.resume();
      return;
    }
    stream.write(first);
    stream.pipe(stream);
  });
});
server.listen(0, '127.0.0.1', 4096, () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit());
