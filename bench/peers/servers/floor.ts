import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Pool, type Dispatcher } from 'undici';
import { listen, upstreamPort } from './listen.ts';

const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'te', 'upgrade']);
const pool = new Pool(`http://127.0.0.1:${upstreamPort}`, { connections: 64, pipelining: 1 });

class Handler implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse;
  #over = false;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** Without this, a response whose caller has left would hold its pool connection forever. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#response.once('close', () => {
      if (!this.#over) controller.abort(new Error('the caller left'));
    });
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    const raw = ((controller.rawHeaders ?? []) as Buffer[]).map((one) => one.toString('latin1'));
    this.#response.writeHead(status, endToEnd(raw));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#response.write(chunk)) return;
    controller.pause();
    this.#response.once('drain', () => controller.resume());
  }

  onResponseEnd(): void {
    this.#over = true;
    this.#response.end();
  }

  onResponseError(): void {
    this.#over = true;
    this.#response.destroy();
  }
}

function endToEnd(raw: readonly string[]): string[] {
  return raw.filter((_, index) => !HOP_BY_HOP.has((raw[index & ~1] ?? '').toLowerCase()));
}

function forward(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  const { url: path = '/', method = 'GET' } = request;
  const headers = endToEnd(request.rawHeaders);
  pool.dispatch({ path, method, headers, body }, new Handler(response));
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => forward(request, response, Buffer.concat(chunks)));
});
listen(server);
