import type { ServerResponse } from 'node:http';

const CHUNK = Buffer.alloc(64 * 1024, 'x');

/** Answers with so many bytes, at the pace of the reader. */
export function sendBytes(response: ServerResponse, bytes: number): void {
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': bytes });
  let left = bytes;
  const send = () => {
    while (left > 0) {
      const chunk = left < CHUNK.length ? CHUNK.subarray(0, left) : CHUNK;
      left -= chunk.length;
      if (!response.write(chunk)) {
        response.once('drain', send);
        return;
      }
    }
    response.end();
  };
  send();
}
