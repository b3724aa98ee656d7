import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Run } from '../lab/run.ts';

const ARRIVE_TIMEOUT_MS = 30_000;
const POLL_MS = 20;

/** An upstream that answers no POST until it is told to answer all. Health checks are answered at once. */
export interface HeldUpstream {
  readonly url: string;
  /** Resolves when this many requests wait. */
  waitFor(count: number): Promise<void>;
  /** Answers all requests that wait. */
  answer(): void;
}

export async function startHeldUpstream(run: Run): Promise<HeldUpstream> {
  const waiting: ServerResponse[] = [];
  const server = createServer((request, response) => {
    request.resume();
    if (request.method === 'POST') waiting.push(response);
    else response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 4096, resolve));
  run.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async waitFor(count) {
      const endMs = performance.now() + ARRIVE_TIMEOUT_MS;
      while (waiting.length < count) {
        run.signal.throwIfAborted();
        if (performance.now() > endMs) {
          throw new Error(`only ${waiting.length} of ${count} requests reached the upstream`);
        }
        await delay(POLL_MS);
      }
    },
    answer() {
      for (const response of waiting.splice(0)) response.end('{}');
    },
  };
}
