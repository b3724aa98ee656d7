import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createNetServer, type AddressInfo, type Socket } from 'node:net';
import { keptPort } from './kept-port.ts';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface TestUpstream {
  readonly url: string;
  readonly port: number;
  /** Requests that were received completely. */
  readonly seen: SeenRequest[];
  /** The targets of requests of which the head was received. */
  readonly begun: string[];
  /** Paths of health checks. They are answered with 200 and are not in `seen`. */
  readonly checks: string[];
  close(): Promise<void>;
}

/** An HTTP server that records requests. By default it answers 200 with `ok`. */
export async function startUpstream(
  answer: (seen: SeenRequest, response: ServerResponse) => void = (_seen, response) =>
    void response.end('ok'),
): Promise<TestUpstream> {
  const seen: SeenRequest[] = [];
  const begun: string[] = [];
  const checks: string[] = [];
  const server = createServer((request, response) => {
    if (request.headers['user-agent'] === 'gateway-health-check') {
      checks.push(request.url ?? '');
      response.end('ok');
      return;
    }
    begun.push(request.url ?? '');
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      const arrived: SeenRequest = {
        method: request.method ?? '',
        url: request.url ?? '',
        rawHeaders: request.rawHeaders,
        headers: request.headers,
        body: Buffer.concat(chunks).toString('latin1'),
      };
      seen.push(arrived);
      answer(arrived, response);
    });
  });
  return { ...(await listen(server)), seen, begun, checks };
}

/** A TCP server; the test handles each connection. */
export async function startRawUpstream(
  onConnection: (socket: Socket) => void,
): Promise<Omit<TestUpstream, 'seen' | 'begun' | 'checks'>> {
  const server = createNetServer((socket) => {
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** An HTTP server; the test handles each request. */
export async function listen(
  server: Server,
): Promise<Omit<TestUpstream, 'seen' | 'begun' | 'checks'>> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A port that nothing listens on. */
export function closedPort(): Promise<number> {
  return keptPort();
}
