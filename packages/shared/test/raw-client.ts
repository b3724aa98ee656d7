import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually } from './eventually.ts';
import { readResponse, type RawResponse } from './raw-response.ts';

/** A TCP connection to the gateway, for requests that `fetch` would correct or reject. */
export interface RawConnection {
  readonly socket: Socket;
  /** Whether the gateway has closed it. */
  readonly ended: boolean;
  /** Received data that `response` has not returned yet; one character for each byte. */
  readonly receivedText: string;
  /** One character for each byte. */
  send(text: string | Buffer): void;
  /** The next response, including interim ones; incomplete if the connection ended within it. */
  response(method?: string): Promise<RawResponse>;
  destroy(): void;
}

/** Opens a connection. With `allowHalfOpen` the client never closes its side. */
export async function rawConnection(port: number, allowHalfOpen = false): Promise<RawConnection> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen, noDelay: true });
  let received = Buffer.alloc(0);
  let ended = false;
  socket.on('data', (bytes: Buffer) => void (received = Buffer.concat([received, bytes])));
  socket.on('end', () => void (ended = true));
  socket.on('close', () => void (ended = true));
  socket.on('error', () => void (ended = true));
  await once(socket, 'connect');
  return {
    socket,
    get ended() {
      return ended;
    },
    get receivedText() {
      return received.toString('latin1');
    },
    send: (text) => void socket.write(text, 'latin1'),
    response: (method = 'GET') =>
      eventually(
        () => {
          const found = readResponse(received, method, ended);
          if (found === undefined) {
            throw new Error(`no response yet, only ${JSON.stringify(received.toString('latin1'))}`);
          }
          received = received.subarray(found.used);
          return found.response;
        },
        { intervalMs: 2 },
      ),
    destroy: () => void socket.destroy(),
  };
}

export interface RawRequest {
  readonly method?: string;
  readonly target?: string;
  readonly httpVersion?: '1.0' | '1.1';
  /** Header lines exactly as given, including Host. By default only a Host line. */
  readonly lines?: readonly string[];
  readonly body?: string;
}

/** The text of a request, exactly as given. */
export function requestText(request: RawRequest): string {
  const { method = 'GET', target = '/v1/proxy/test', httpVersion = '1.1' } = request;
  const lines = request.lines ?? ['Host: gateway.test'];
  const head = [`${method} ${target} HTTP/${httpVersion}`, ...lines].join('\r\n');
  return `${head}\r\n\r\n${request.body ?? ''}`;
}

/** Sends one request on a new connection, with the token if there is one. */
export async function rawCall(
  port: number,
  request: RawRequest,
  token?: string,
): Promise<RawResponse> {
  const connection = await rawConnection(port);
  const lines = [...(request.lines ?? ['Host: gateway.test'])];
  if (token !== undefined) lines.push(`Authorization: Bearer ${token}`);
  connection.send(requestText({ ...request, lines }));
  try {
    return await connection.response(request.method);
  } finally {
    connection.destroy();
  }
}
