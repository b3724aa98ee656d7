import { connect, type Socket } from 'node:net';

/** The target of an attack: a data plane on this machine, and a route that the caller may use. */
export interface AttackTarget {
  readonly port: number;
  readonly token: string;
  /** The name of a route. */
  readonly route: string;
}

/** What a hostile caller does with a connection. */
export type Attacker = (socket: Socket, target: AttackTarget) => void;

const DRIP_MS = 100;
const MIB = 1024 * 1024;

function head(method: string, { route, token }: AttackTarget, ...lines: string[]): string {
  const all = [`Host: gateway.test`, `Authorization: Bearer ${token}`, ...lines];
  return `${method} /v1/proxy/${route} HTTP/1.1\r\n${all.join('\r\n')}\r\n`;
}

function drip(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), DRIP_MS);
  socket.once('close', () => clearInterval(timer));
}

/** Sends without end, as fast as the data is read. */
function pour(socket: Socket, text: string): void {
  const bytes = Buffer.from(text, 'latin1');
  const more = (): void => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on('drain', more);
  more();
}

/** Each keeps a connection busy or open in a different way; none completes a request normally. */
export const ATTACKERS = {
  'says nothing at all': () => undefined,
  'asks once and rests': (socket, target) => {
    socket.write(`${head('GET', target)}\r\n`);
  },
  'sends a head byte by byte': (socket, target) => {
    socket.write(`${head('GET', target)}X-Slow: `);
    drip(socket, 'a');
  },
  'sends header lines one by one': (socket, target) => {
    socket.write(head('GET', target));
    drip(socket, 'a: b\r\n');
  },
  'sends a body byte by byte': (socket, target) => {
    socket.write(`${head('PUT', target, `Content-Length: ${MIB}`)}\r\n`);
    drip(socket, 'a');
  },
  'stops within a body': (socket, target) => {
    socket.write(`${head('PUT', target, 'Content-Length: 1000')}\r\nhalf of it`);
  },
  'stops within a long body': (socket, target) => {
    socket.write(`${head('POST', target, `Content-Length: ${5 * MIB}`)}\r\nhalf of it`);
  },
  'sends chunks without end': (socket, target) => {
    socket.write(`${head('POST', target, 'Transfer-Encoding: chunked')}\r\n`);
    pour(socket, `8000\r\n${'x'.repeat(0x8000)}\r\n`);
  },
  'sends chunks of one byte without end': (socket, target) => {
    socket.write(`${head('PUT', target, 'Transfer-Encoding: chunked')}\r\n`);
    pour(socket, '1\r\nx\r\n'.repeat(10_000));
  },
  'sends a chunk extension without end': (socket, target) => {
    socket.write(`${head('POST', target, 'Transfer-Encoding: chunked')}\r\n1;`);
    pour(socket, 'x'.repeat(0x8000));
  },
  'sends trailers without end': (socket, target) => {
    socket.write(`${head('POST', target, 'Transfer-Encoding: chunked')}\r\n0\r\n`);
    pour(socket, 'x-trailer: y\r\n'.repeat(1000));
  },
  'sends 1 MB of headers': (socket, target) => {
    socket.write(`${head('GET', target)}X-Large: ${'x'.repeat(MIB)}\r\n\r\n`);
  },
  'sends 100 000 header lines': (socket, target) => {
    socket.write(`${head('GET', target)}${'a: b\r\n'.repeat(100_000)}\r\n`);
  },
  'sends 20 000 empty header lines': (socket, target) => {
    socket.write(`${head('GET', target)}${'a:\r\n'.repeat(20_000)}\r\n`);
  },
  'sends a request line of 1 MB': (socket) => {
    socket.write(`GET /v1/proxy/${'x'.repeat(MIB)} HTTP/1.1\r\nHost: gateway.test\r\n\r\n`);
  },
  'sends empty lines without end': (socket) => {
    pour(socket, '\r\n'.repeat(10_000));
  },
  'ends its side within a head': (socket, target) => {
    socket.end(head('GET', target));
  },
  'ends its side within a body': (socket, target) => {
    socket.end(`${head('PUT', target, 'Content-Length: 1000')}\r\nhalf of it`);
  },
  'asks again and again and reads nothing': (socket, target) => {
    socket.pause();
    pour(socket, `${head('GET', target)}\r\n`);
  },
  'reads nothing of a large answer': (socket, target) => {
    socket.pause();
    socket.write(`${head('GET', target)}\r\n`);
  },
} as const satisfies Readonly<Record<string, Attacker>>;

export interface AttackOptions {
  readonly attacker: Attacker;
  readonly target: AttackTarget;
  /** Open at the same time. */
  readonly connections: number;
  /** Whether a closed connection is opened again, so that the attack continues until it is stopped. */
  readonly again?: boolean;
  /** Delay before that, ms. */
  readonly againMs?: number;
  /** An attack that is not stopped ends after this time. */
  readonly maxMs: number;
}

export interface Attack {
  /** Connections opened so far. */
  readonly opened: number;
  /** Connections open now. */
  readonly open: number;
  /** The first line of the response on each answered connection. */
  readonly answers: readonly string[];
  stop(): void;
}

const AGAIN_MS = 20;
/** Connections are opened a few at a time, because the queue of a listening socket is short. */
const OPENED_AT_ONCE = 50;
const OPENING_MS = 10;

/** Attacks a data plane on 127.0.0.1, and nothing else, for a limited time. */
export function startAttack(options: AttackOptions): Attack {
  const { attacker, target } = options;
  const sockets = new Set<Socket>();
  const answers: string[] = [];
  const state = { opened: 0, stopped: false };

  function open(): void {
    if (state.stopped) return;
    const socket = connect({ port: target.port, host: '127.0.0.1', noDelay: true });
    sockets.add(socket);
    socket.once('connect', () => {
      state.opened += 1;
      attacker(socket, target);
    });
    socket.once('data', (bytes: Buffer) => {
      answers.push(bytes.toString('latin1').split('\r\n', 1)[0] ?? '');
    });
    // The data plane decides how the connection ends; a reset is fine.
    socket.on('error', () => undefined);
    socket.once('close', () => {
      sockets.delete(socket);
      if (options.again === true) setTimeout(open, options.againMs ?? AGAIN_MS).unref();
    });
    // A paused socket does not report its end, so only a reset is noticed.
  }

  function stop(): void {
    state.stopped = true;
    clearTimeout(timer);
    clearInterval(opening);
    for (const socket of sockets) socket.destroy();
  }

  const timer = setTimeout(stop, options.maxMs).unref();
  let toOpen = options.connections;
  function openSome(): void {
    for (let index = 0; index < OPENED_AT_ONCE && toOpen > 0; index += 1, toOpen -= 1) open();
    if (toOpen === 0) clearInterval(opening);
  }
  const opening = setInterval(openSome, OPENING_MS);
  return {
    get opened() {
      return state.opened;
    },
    get open() {
      return sockets.size;
    },
    answers,
    stop,
  };
}
