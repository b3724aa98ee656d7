import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { REQUEST_BODY } from '../load/request-body.ts';

/** Callers that each keep one connection and send the same request over it again. */
export class Callers {
  readonly #sockets: Socket[] = [];
  readonly #request: string;

  constructor(url: URL, authorization: string) {
    this.#request =
      `POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/json\r\n` +
      `Accept: application/json\r\nUser-Agent: bench\r\nAuthorization: ${authorization}\r\n` +
      `Content-Length: ${REQUEST_BODY.length}\r\n\r\n${REQUEST_BODY}`;
  }

  async connect(url: URL, count: number, signal: AbortSignal): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
      this.#sockets.push(socket);
      await once(socket, 'connect', { signal });
    }
  }

  /** Sends a request on each connection. Returns what resolves when each has a response. */
  send(signal: AbortSignal): Promise<unknown> {
    const answered = this.#sockets.map(async (socket) => {
      const [bytes] = (await once(socket, 'data', { signal })) as [Buffer];
      const statusLine = bytes.toString('latin1', 0, bytes.indexOf('\r'));
      if (!statusLine.startsWith('HTTP/1.1 200 ')) throw new Error(`a response is ${statusLine}`);
    });
    for (const socket of this.#sockets) socket.write(this.#request);
    return Promise.all(answered);
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
