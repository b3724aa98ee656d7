import { connect, type Socket } from 'node:net';
import { REQUEST_BODY } from '../request-body.ts';
import type { Target } from '../wrk.ts';

const HEAD_END = Buffer.from('\r\n\r\n');

/** Called once, with `200`, another status and its error code, or what happened to the connection. */
export type Done = (outcome: string) => void;

export interface CallerOptions extends Target {
  /** When as many are busy, further requests wait for one. */
  readonly maxConnections: number;
  /** A caller leaves after this time. */
  readonly deadlineMs?: number;
}

/** Sends the same POST over connections that are kept open. A request takes a free connection or a new one. */
export class CallerConnections {
  readonly #request: Buffer;
  readonly #url: URL;
  readonly #options: CallerOptions;
  readonly #free: Connection[] = [];
  readonly #waiting: Done[] = [];
  #open = 0;

  constructor(options: CallerOptions) {
    this.#options = options;
    this.#url = new URL(options.url);
    const lines = [
      `POST ${this.#url.pathname} HTTP/1.1`,
      `Host: ${this.#url.host}`,
      `Authorization: ${options.authorization}`,
      'Content-Type: application/json',
      'Accept: application/json',
      'User-Agent: bench',
      `Content-Length: ${REQUEST_BODY.length}`,
    ];
    this.#request = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${REQUEST_BODY}`);
  }

  send(done: Done): void {
    const free = this.#free.pop();
    if (free === undefined && this.#open >= this.#options.maxConnections) this.#waiting.push(done);
    else (free ?? this.#connect()).send(this.#request, done);
  }

  #connect(): Connection {
    this.#open += 1;
    const { hostname: host, port } = this.#url;
    const socket = connect({ host, port: Number(port), noDelay: true });
    return new Connection(socket, this.#options.deadlineMs, {
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

/** A connection with one request at a time. Every response has a `Content-Length`. */
class Connection {
  readonly #socket: Socket;
  readonly #deadlineMs: number | undefined;
  #done: Done | undefined;
  #received: Buffer | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(socket: Socket, deadlineMs: number | undefined, owner: Owner) {
    this.#socket = socket;
    this.#deadlineMs = deadlineMs;
    socket.on('data', (chunk: Buffer) => {
      const before = this.#received;
      const received = before === undefined ? chunk : Buffer.concat([before, chunk]);
      const headEnd = received.indexOf(HEAD_END);
      const head = received.toString('latin1', 0, Math.max(0, headEnd));
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1]);
      if (headEnd < 0 || received.length < headEnd + HEAD_END.length + length) {
        this.#received = received;
        return;
      }
      this.#end(outcomeOf(head));
      if (/^connection: close/im.test(head) || Number.isNaN(length)) socket.destroy();
      else owner.free(this);
    });
    socket.on('error', (error) => this.#end(error.message));
    socket.on('close', () => {
      this.#end('the connection was closed');
      owner.closed(this);
    });
  }

  send(request: Buffer, done: Done): void {
    this.#done = done;
    this.#socket.write(request);
    if (this.#deadlineMs === undefined) return;
    this.#timer = setTimeout(() => {
      this.#end('left');
      this.#socket.destroy();
    }, this.#deadlineMs);
  }

  #end(outcome: string): void {
    const done = this.#done;
    this.#done = undefined;
    this.#received = undefined;
    clearTimeout(this.#timer);
    done?.(outcome);
  }
}

function outcomeOf(head: string): string {
  const status = head.slice(9, 12);
  const code = /^x-gateway-error: (\S+)/im.exec(head)?.[1];
  return code === undefined ? status : `${status} ${code}`;
}
