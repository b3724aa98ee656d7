/**
 * The upstream and the caller of large bodies, in a separate process, so that their memory is not measured as that of
 * the gateway. It gets its orders over the channel of `fork`.
 */
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Writable } from 'node:stream';

export interface LargeBodyOrder {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The length of the request body. */
  readonly sendBytes: number;
  /** The length of the response body. */
  readonly answerBytes: number;
  readonly answerHeaders: Readonly<Record<string, string>>;
}

export interface LargeBodyResult {
  readonly requestId: string;
  readonly upstreamGotBytes: number;
  readonly callerGotBytes: number;
}

const PIECE = Buffer.alloc(1024 * 1024, 'x');

/** Writes this many bytes as fast as the other side accepts them. */
async function writeAll(to: Writable, bytes: number): Promise<void> {
  for (let left = bytes; left > 0; left -= PIECE.length) {
    if (!to.write(left < PIECE.length ? PIECE.subarray(0, left) : PIECE)) await once(to, 'drain');
  }
  to.end();
}

async function countBytes(from: IncomingMessage): Promise<number> {
  let bytes = 0;
  for await (const chunk of from) bytes += (chunk as Buffer).length;
  return bytes;
}

let order: LargeBodyOrder | undefined;
let upstreamGotBytes = 0;

const server = createServer((request, response) => {
  void countBytes(request).then((bytes) => {
    upstreamGotBytes = bytes;
    response.writeHead(200, order?.answerHeaders);
    return writeAll(response, order?.answerBytes ?? 0);
  });
});

async function carryOut(given: LargeBodyOrder): Promise<LargeBodyResult> {
  order = given;
  const request = httpRequest(given.url, { method: given.method, headers: given.headers });
  const answered = once(request, 'response') as Promise<[IncomingMessage]>;
  await writeAll(request, given.sendBytes);
  const [response] = await answered;
  const callerGotBytes = await countBytes(response);
  return { requestId: String(response.headers['x-request-id']), upstreamGotBytes, callerGotBytes };
}

process.on('message', (given: LargeBodyOrder) => {
  void carryOut(given).then((result) => process.send?.(result));
});
process.once('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
