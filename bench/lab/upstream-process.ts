/**
 * An upstream that answers by the path of a request, in a process of its own. It reads each request whole before it
 * answers, sends messages of WebSockets back, and keeps idle connections open longer than a run takes.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { ANSWER } from './answer.ts';
import { sendEvents } from './send-events.ts';

/** A fixed capacity; without it requests are answered at once. */
export interface UpstreamOrder {
  /** Each does one request at a time, in the order in which they came; also those whose callers have left. */
  readonly workers?: number;
  readonly workMs?: number;
}

const SLOW_MS = 1000;
/** The largest body so far; others are parts of it. */
let largest = Buffer.alloc(0);
const { workers = 0, workMs = 0 } = JSON.parse(process.argv[2] ?? '{}') as UpstreamOrder;

/** When each worker is free, so that late timers do not lower the capacity. */
const freeAtMs = Array.from({ length: workers }, () => 0);

function workedOff(response: ServerResponse): void {
  const nowMs = performance.now();
  const freeMs = Math.min(...freeAtMs);
  const doneMs = Math.max(nowMs, freeMs) + workMs;
  freeAtMs[freeAtMs.indexOf(freeMs)] = doneMs;
  setTimeout(() => response.end(ANSWER), doneMs - nowMs);
}

function bodyOf(bytes: number): Buffer {
  if (largest.length < bytes) largest = Buffer.alloc(bytes, 'x');
  return largest.subarray(0, bytes);
}

const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  const { url = '' } = request;
  request.resume().once('end', () => {
    const [, bytes] = /\/bytes\/(\d+)/.exec(url) ?? [];
    if (bytes !== undefined) response.end(bodyOf(Number(bytes)));
    else if (url.endsWith('/events')) sendEvents(response);
    else if (url.startsWith('/slow')) setTimeout(() => response.end(ANSWER), SLOW_MS);
    else if (url.startsWith('/hung')) return;
    else if (workers > 0 && url !== '/healthz') workedOff(response);
    else response.end(ANSWER);
  });
});
new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket) => {
  socket.on('message', (data, binary) => socket.send(data, { binary }));
});
server.listen(0, '127.0.0.1', 4096, () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit());
