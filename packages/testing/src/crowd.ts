import { connect, type Socket } from 'node:net';

/** Callers of a data plane on 127.0.0.1, each on a connection of its own. */
export interface CrowdOptions {
  readonly port: number;
  readonly path: string;
  readonly token?: string | undefined;
  readonly callers: number;
  /** `calls`: a GET, and another one after the response. `slow-bodies`: a body of one byte a second, without end. */
  readonly kind: 'calls' | 'slow-bodies';
  /** About how long a caller waits after a response or the end of its connection, ms. */
  readonly againMs: number;
  /** Over how long the callers arrive, ms; by default as fast as the data plane accepts them. */
  readonly arrivalMs?: number;
}

export interface Crowd {
  /** How many responses there were of each status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Connections that are open. */
  readonly open: number;
  stop(): void;
}

/** How often each socket gets a byte; the sockets are spread over that time. */
const DRIP_MS = 1000;
const TICKS = 50;
/** Connections are opened a few at a time, because the queue of a listening socket is short. */
const OPENED_AT_ONCE = 50;
const OPENING_MS = 10;

/**
 * Starts the callers. They come again until they are stopped.
 *
 * @param random spreads them, because callers that all come again at once would be another load; 0 to 1
 */
export function startCrowd(options: CrowdOptions, random: () => number): Crowd {
  const { kind, port } = options;
  const request = requestOf(options);
  const statuses = new Map<number, number>();
  /** Those whose body goes on. */
  const sending = new Set<Socket>();
  const sockets = new Set<Socket>();
  let stopped = false;

  function later(work: () => void): void {
    const waitMs = options.againMs * (0.5 + random());
    if (!stopped) setTimeout(work, waitMs).unref();
  }

  function open(): void {
    if (stopped) return;
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const ask = () => {
      if (socket.destroyed) return;
      socket.write(request);
      if (kind === 'slow-bodies') sending.add(socket);
    };
    sockets.add(socket);
    socket.once('connect', ask);
    socket.on('data', (bytes: Buffer) => {
      const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(bytes.toString('latin1')) ?? [];
      if (status === undefined) return;
      statuses.set(Number(status), (statuses.get(Number(status)) ?? 0) + 1);
      if (kind === 'calls') later(ask);
      else sending.delete(socket);
    });
    // The data plane decides how the connection ends; a reset is fine.
    socket.on('error', () => undefined);
    socket.once('close', () => {
      sockets.delete(socket);
      sending.delete(socket);
      later(open);
    });
  }

  let toOpen = options.callers;
  const steps = (options.arrivalMs ?? 0) / OPENING_MS;
  const atOnce = Math.min(OPENED_AT_ONCE, Math.ceil(options.callers / Math.max(1, steps)));
  const opening = setInterval(() => {
    for (let index = 0; index < atOnce && toOpen > 0; index += 1, toOpen -= 1) open();
    if (toOpen === 0) clearInterval(opening);
  }, OPENING_MS);
  let tick = 0;
  const dripping = setInterval(() => {
    tick += 1;
    let index = 0;
    for (const socket of sending) if (index++ % TICKS === tick % TICKS) socket.write('x');
  }, DRIP_MS / TICKS);
  return {
    statuses,
    get open() {
      return sockets.size;
    },
    stop() {
      stopped = true;
      clearInterval(opening);
      clearInterval(dripping);
      for (const socket of sockets) socket.destroy();
    },
  };
}

function requestOf({ kind, path, token }: CrowdOptions): string {
  const lines = [`${kind === 'calls' ? 'GET' : 'POST'} ${path} HTTP/1.1`, 'Host: gateway.test'];
  if (token !== undefined) lines.push(`Authorization: Bearer ${token}`);
  if (kind === 'slow-bodies') lines.push('Content-Length: 1000000');
  return `${lines.join('\r\n')}\r\n\r\n`;
}
