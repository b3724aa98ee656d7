/**
 * The upstream of the attacked routes as a process of its own: what it costs to serve hundreds of large
 * answers that nobody reads must hold up neither the steady load nor its clock. Tells its port to its
 * parent, and ends with the channel to it.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const LARGE_BYTES = 16 * 1024 * 1024;
const PIECE = Buffer.alloc(64 * 1024, 'x');

/** At the pace at which it is taken. */
function sendLarge(response: ServerResponse, leftBytes: number): void {
  let left = leftBytes;
  while (left > 0) {
    left -= PIECE.length;
    if (!response.write(PIECE)) {
      response.once('drain', () => sendLarge(response, left));
      return;
    }
  }
  response.end();
}

const server = createServer((request, response) => {
  request.resume();
  if (request.url?.startsWith('/large') === true) {
    response.setHeader('Content-Length', LARGE_BYTES);
    sendLarge(response, LARGE_BYTES);
  } else response.end('{"ok":true}');
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit(0));
