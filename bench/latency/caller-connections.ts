import { connect, type Socket } from 'node:net';
import { ANSWER } from '../load/answer.ts';
import { REQUEST_BODY } from '../load/request-body.ts';

const HEAD_END = Buffer.from('\r\n\r\n');
const MAX_CONNECTIONS = 256;
/** "2" of a status line such as `HTTP/1.1 200 OK`. */
const STATUS_AT = 9;
const TWO = 0x32;

type Done = (isGood: boolean) => void;

/**
 * Sends requests over connections that are kept open. A request takes a free connection or a new one; when all are busy
 * it waits for the first that is free.
 */
export class CallerConnections {
  readonly #request: Buffer;
  readonly #url: URL;
  readonly #free: Connection[] = [];
  readonly #waiting: Done[] = [];
  #open = 0;

  constructor({ url, authorization }: { readonly url: string; readonly authorization: string }) {
    this.#url = new URL(url);
    const lines = [
      `POST ${this.#url.pathname} HTTP/1.1`,
      `Host: ${this.#url.host}`,
      `Authorization: ${authorization}`,
      'Content-Type: application/json',
      'Accept: application/json',
      'User-Agent: bench',
      `Content-Length: ${REQUEST_BODY.length}`,
    ];
    this.#request = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${REQUEST_BODY}`);
  }

  /** @param done called once, when the response is complete or its connection has ended */
  send(done: Done): void {
    const free = this.#free.pop();
    if (free !== undefined) free.send(this.#request, done);
    else if (this.#open < MAX_CONNECTIONS) this.#connect().send(this.#request, done);
    else this.#waiting.push(done);
  }

  #connect(): Connection {
    this.#open += 1;
    const socket = connect({
      host: this.#url.hostname,
      port: Number(this.#url.port),
      noDelay: true,
    });
    return new Connection(socket, {
      free: (connection) => {
        const next = this.#waiting.shift();
        if (next === undefined) this.#free.push(connection);
        else connection.send(this.#request, next);
      },
      closed: (connection) => {
        this.#open -= 1;
        const at = this.#free.indexOf(connection);
        if (at >= 0) this.#free.splice(at, 1);
        const next = this.#waiting.shift();
        if (next !== undefined) this.send(next);
      },
    });
  }
}

interface Owner {
  free(connection: Connection): void;
  closed(connection: Connection): void;
}

/** A connection with one request at a time. Every good response has the upstream's body. */
class Connection {
  readonly #socket: Socket;
  #done: Done | undefined;
  #received: Buffer | undefined;

  constructor(socket: Socket, owner: Owner) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      const received =
        this.#received === undefined ? chunk : Buffer.concat([this.#received, chunk]);
      const bodyAt = received.indexOf(HEAD_END) + HEAD_END.length;
      const isGood = received[STATUS_AT] === TWO;
      if (bodyAt >= HEAD_END.length && !isGood) socket.destroy();
      else if (bodyAt < HEAD_END.length || received.length < bodyAt + ANSWER.length) {
        this.#received = received;
      } else {
        this.#end(received.length === bodyAt + ANSWER.length);
        owner.free(this);
      }
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#end(false);
      owner.closed(this);
    });
  }

  send(request: Buffer, done: Done): void {
    this.#done = done;
    this.#socket.write(request);
  }

  #end(isGood: boolean): void {
    const done = this.#done;
    this.#done = undefined;
    this.#received = undefined;
    done?.(isGood);
  }
}
