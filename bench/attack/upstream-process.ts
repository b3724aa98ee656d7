/**
 * The upstream of an attacked, a slow or a hung route, in a process of its own: serving hundreds of large responses that nobody reads must
 * delay neither the steady load nor its clock. It sends its port to its parent, and ends when the channel to the parent
 * closes.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Responses below `/slow` take this long. Requests below `/hung` get no response. */
const SLOW_MS = 1000;
const LARGE_BYTES = 16 * 1024 * 1024;
const PIECE = Buffer.alloc(64 * 1024, 'x');

/** Writes as fast as the caller reads. */
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
  } else if (request.url?.startsWith('/slow') === true) {
    setTimeout(() => response.end('{"ok":true}'), SLOW_MS);
  } else if (request.url?.startsWith('/hung') !== true) response.end('{"ok":true}');
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit(0));
