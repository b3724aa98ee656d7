import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { listen } from '@gateway/shared/test/upstream';

/** A request with its whole body. */
export interface Received {
  readonly request: IncomingMessage;
  readonly method: string;
  readonly path: string;
  readonly body: Buffer;
}

/** Starts a server that answers each request when its body is complete. */
export async function startServer(
  answer: (received: Received, response: ServerResponse) => unknown,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  return listen(
    createHealthyServer((request, response) => {
      void readBody(request).then(
        (body) => {
          const received = { request, method: request.method ?? '', path: request.url ?? '', body };
          return answer(received, response);
        },
        () => response.destroy(),
      );
    }),
  );
}

/** A server that passes health checks. */
export function createHealthyServer(listener: RequestListener): Server {
  return createServer((request, response) => {
    if (request.headers['user-agent'] === 'gateway-health-check') response.end('ok');
    else listener(request, response);
  });
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
