import { connect, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { keptPort } from '@gateway/shared/test/kept-port';
import { OneWay, type Weather } from './one-way.ts';

/** A local link that can be slowed down or broken, because kernel traffic shaping may be unavailable. */
export interface TcpRelay {
  /** On 127.0.0.1. */
  readonly port: number;
  /** Open connections. */
  readonly open: number;
  /** Connections accepted so far. */
  readonly taken: number;
  /** Delays every byte by this time, each way; 0 ends the delay. */
  slow(delayMs: number): void;
  /** Closes every connection; new ones are relayed. */
  cut(): void;
  /**
   * Nothing arrives any more, without an error: connections stay open, new ones are accepted, bytes
   * are dropped.
   */
  blackHole(): void;
  /** Like a black hole, but bytes stay unread: nothing is lost if the link is repaired in time. */
  stall(): void;
  /** Closes every connection and refuses new ones. */
  refuse(): Promise<void>;
  /** Relays without delay again. Connections that lost bytes are closed. */
  heal(): Promise<void>;
  close(): Promise<void>;
}

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  readonly ways: readonly OneWay[];
}

const HOST = '127.0.0.1';
const MAX_CONNECTIONS = 1000;

/** Relays a free port of 127.0.0.1 to another port of it until it is closed. */
export async function startTcpRelay(targetPort: number): Promise<TcpRelay> {
  const pairs = new Set<Pair>();
  let weather: Weather = { delayMs: 0, bytes: 'relayed' };
  let taken = 0;

  function relay(near: Socket): void {
    taken += 1;
    const far = connect({ port: targetPort, host: HOST, noDelay: true, allowHalfOpen: true });
    near.setNoDelay(true);
    const now = () => weather;
    const ways = [new OneWay(near, far, now), new OneWay(far, near, now)];
    const pair = { near, far, ways };
    pairs.add(pair);
    near.on('error', () => undefined);
    far.on('error', () => undefined);
    near.once('close', () => {
      pairs.delete(pair);
      far.destroy();
    });
    // A clean end follows the bytes before it. A reset takes effect at once.
    far.once('close', (broken) => {
      if (broken && weather.bytes === 'relayed') near.destroy();
    });
  }

  function change(next: Weather): void {
    weather = next;
    for (const { near, far, ways } of pairs) {
      if (far.errored !== null && weather.bytes === 'relayed') near.destroy();
      for (const way of ways) way.weatherChanged();
    }
  }

  function cut(): void {
    for (const { near } of pairs) near.destroy();
  }

  let server: Server | undefined;
  async function listen(): Promise<void> {
    const started = createServer({ allowHalfOpen: true }, relay);
    started.maxConnections = MAX_CONNECTIONS;
    started.listen(port, HOST);
    await once(started, 'listening');
    server = started;
  }

  async function stopListening(): Promise<void> {
    const stopping = server;
    server = undefined;
    if (stopping === undefined) return;
    const closed = once(stopping, 'close');
    stopping.close();
    cut();
    await closed;
  }

  const port = await keptPort();
  await listen();
  return {
    port,
    get open() {
      return pairs.size;
    },
    get taken() {
      return taken;
    },
    slow: (delayMs) => change({ delayMs, bytes: 'relayed' }),
    cut,
    blackHole: () => change({ delayMs: 0, bytes: 'swallowing' }),
    stall: () => change({ delayMs: 0, bytes: 'stalled' }),
    refuse: stopListening,
    async heal() {
      if (weather.bytes === 'swallowing') cut();
      change({ delayMs: 0, bytes: 'relayed' });
      if (server === undefined) await listen();
    },
    close: stopListening,
  };
}
