/**
 * An upstream of a fixed capacity, in a process of its own. Its only argument is the order as JSON. Each worker does one
 * request at a time, in the order in which they came; also those whose callers have left, as most servers do. It sends
 * its port to its parent, and ends when the channel to the parent closes.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface UpstreamOrder {
  readonly workers: number;
  readonly workMs: number;
}

const { workers, workMs } = JSON.parse(process.argv[2] ?? '') as UpstreamOrder;

/** When each worker is free, so that late timers do not lower the capacity. */
const freeAtMs = Array.from({ length: workers }, () => 0);

const server = createServer((request, response) => {
  request.resume();
  const nowMs = performance.now();
  if (request.url === '/healthz') {
    response.end();
    return;
  }
  const next = freeAtMs.reduce((first, atMs, worker) => {
    return atMs < (freeAtMs[first] ?? 0) ? worker : first;
  }, 0);
  const doneMs = Math.max(nowMs, freeAtMs[next] ?? 0) + workMs;
  freeAtMs[next] = doneMs;
  setTimeout(() => response.end('{"ok":true}'), doneMs - nowMs);
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', 4096, () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit(0));
