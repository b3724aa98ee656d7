import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
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

const RESPONSE_MS = 20_000;

/** Opens a connection. With `allowHalfOpen` the client never closes its side. */
export async function rawConnection(port: number, allowHalfOpen = false): Promise<RawConnection> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen, noDelay: true });
  let received = Buffer.alloc(0);
  let ended = false;
  const changes = new EventEmitter();
  socket.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    changes.emit('change');
  });
  for (const event of ['end', 'close', 'error']) {
    socket.on(event, () => {
      ended = true;
      changes.emit('change');
    });
  }
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
    async response(method = 'GET') {
      const signal = AbortSignal.timeout(RESPONSE_MS);
      for (;;) {
        const found = readResponse(received, method, ended);
        if (found !== undefined) {
          received = received.subarray(found.used);
          return found.response;
        }
        const text = () => JSON.stringify(received.toString('latin1'));
        if (ended) throw new Error(`no response before the end, only ${text()}`);
        await once(changes, 'change', { signal }).catch((cause: unknown) => {
          throw new Error(`no response, only ${text()}`, { cause });
        });
      }
    },
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
