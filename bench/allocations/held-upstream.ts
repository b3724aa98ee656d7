import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const ARRIVE_TIMEOUT_MS = 30_000;
const POLL_MS = 20;

/** An upstream that answers no POST until it is told to answer all. Health checks are answered at once. */
export class HeldUpstream {
  readonly #waiting: ServerResponse[] = [];
  readonly #server = createServer((request, response) => {
    request.resume();
    if (request.method === 'POST') this.#waiting.push(response);
    else response.end();
  });

  /** Listens and returns its URL. */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', 4096, resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resolves when this many requests wait. */
  async waitFor(count: number, signal: AbortSignal): Promise<void> {
    const endMs = performance.now() + ARRIVE_TIMEOUT_MS;
    while (this.#waiting.length < count) {
      signal.throwIfAborted();
      if (performance.now() > endMs) {
        throw new Error(`only ${this.#waiting.length} of ${count} requests reached the upstream`);
      }
      await delay(POLL_MS);
    }
  }

  /** Answers all requests that wait. */
  answer(): void {
    for (const response of this.#waiting.splice(0)) response.end('{}');
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}
