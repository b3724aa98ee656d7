import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock, type ManualClock } from '@gateway/shared/test/manual-clock';
import type { ServerExchange } from '@gateway/http/exchange';
import { ConnectionSweep, idleTimeout } from './connection-sweep.ts';
import { ServerConnection } from '@gateway/http/http1/server/connection';
import { readDirectly } from '@gateway/http/sockets/direct-reads';
import { createHttp1Server, type Http1Server } from '@gateway/http/http1/server/server';

const GET = 'GET / HTTP/1.1\r\nHost: gateway\r\n\r\n';
const LIMITS = {
  keepAliveTimeoutMs: 8_000,
  stalledTimeoutMs: 4_000,
  headersTimeoutMs: 6_000,
  maxConnections: 10,
};

let clock: ManualClock;
let server: Server;
let http1: Http1Server;
let answer: (exchange: ServerExchange) => void;
let client: Socket;
let internalErrors: unknown[];
let received: string;

beforeEach(async () => {
  clock = manualClock();
  answer = (exchange) => {
    exchange.respond(200, 'OK', ['Content-Length', '2'], false);
    exchange.send('ok', true);
  };
  const open = new Set<Socket>();
  const sweep = new ConnectionSweep(
    clock,
    LIMITS,
    idleTimeout(LIMITS, () => open.size),
  );
  http1 = createHttp1Server({
    clock,
    maxHeaderBytes: 1000,
    maxHeaderLines: 10,
    lingerTimeoutMs: 1000,
    cut: () => undefined,
    onExchange: (exchange) => {
      answer(exchange);
    },
    internalError: (error) => void internalErrors.push(error),
    refused: () => undefined,
    refusal: (reason) => ({ status: 400, fields: ['Reason', reason], body: '' }),
  });
  server = createServer((socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    sweep.add(http1.accept(readDirectly(socket)), () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  received = '';
  internalErrors = [];
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined);
  await once(client, 'connect');
});

afterEach(() => {
  client.destroy();
  http1.destroy();
  server.close();
});

function read(): void {
  client.setEncoding('latin1').on('data', (text: string) => (received += text));
}

/** Advances the clock in steps of the sweep. */
function pass(ms: number): void {
  for (let passed = 0; passed < ms; passed += 1_000) clock.advance(1_000);
}

function openConnections(): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => {
      if (error === null) resolve(count);
      else reject(error);
    });
  });
}

async function untilCut(): Promise<void> {
  await eventually(() => {
    expect(client.closed).toBe(true);
  });
}

describe('the connection sweep', () => {
  it('closes a connection that is idle for the keep-alive timeout, and none before', async () => {
    read();
    client.write(GET);
    await eventually(() => {
      expect(received).toContain('ok');
    });
    pass(8_000);
    client.write(GET);
    await eventually(() => {
      expect(received.split('ok')).toHaveLength(3);
    });
    pass(8_000);
    expect(client.closed).toBe(false);
    pass(2_000);
    await untilCut();
  });

  it('closes idle connections sooner if nine in ten connections are used', async () => {
    const others = Array.from({ length: 8 }, () =>
      connect((server.address() as AddressInfo).port, '127.0.0.1'),
    );
    try {
      await eventually(async () => {
        expect(await openConnections()).toBe(9);
      });
      pass(3_000);
      await untilCut();
      await eventually(async () => {
        expect(await openConnections()).toBe(0);
      });
    } finally {
      for (const one of others) one.destroy();
    }
  });

  it('goes on after an exception in the check of one connection, which ends it', async () => {
    const other = connect((server.address() as AddressInfo).port, '127.0.0.1');
    other.on('error', () => undefined).resume();
    await once(other, 'connect');
    await eventually(async () => expect(await openConnections()).toBe(2));
    const bug = new Error('a bug');
    jest.spyOn(ServerConnection.prototype, 'refuseSlowHead').mockImplementationOnce(() => {
      throw bug;
    });
    read();
    pass(60_000);
    await untilCut();
    await eventually(() => expect(other.closed).toBe(true));
    expect(internalErrors).toEqual([bug]);
    jest.restoreAllMocks();
  });

  it('keeps a connection with a slow response', async () => {
    read();
    let pending: ServerExchange | undefined;
    answer = (exchange) => (pending = exchange);
    client.write(GET);
    await eventually(() => {
      expect(pending).toBeDefined();
    });
    pass(60_000);
    pending?.respond(200, 'OK', ['Content-Length', '4'], false);
    pending?.send('late', true);
    await eventually(() => {
      expect(received).toContain('late');
    });
  });

  it('closes a connection whose caller does not read its response', async () => {
    let waiting = false;
    answer = (exchange) => {
      exchange.respond(200, 'OK', [], false);
      waiting = !exchange.send(Buffer.alloc(32 * 1024 * 1024), false);
    };
    client.pause();
    client.write(GET);
    await eventually(() => {
      expect(waiting).toBe(true);
    });
    pass(6_000);
    client.resume();
    await untilCut();
  });

  it.each(['', 'GET / HTTP/1.1\r\nHo'])(
    'refuses a request whose head does not arrive in time, received so far: %j',
    async (begin) => {
      read();
      client.write(begin);
      await eventually(async () => expect(await openConnections()).toBe(1));
      pass(5_000);
      expect(client.closed).toBe(false);
      pass(2_000);
      await eventually(() =>
        expect(received).toMatch(/^HTTP\/1\.1 400 .*\r\nReason: slow_head\r\n/),
      );
      await untilCut();
    },
  );

  it('leaves an upgraded connection to its own idle timeout', async () => {
    read();
    answer = (exchange) => {
      exchange.respond(101, '', [], false);
    };
    client.write('GET / HTTP/1.1\r\nHost: gateway\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
    await eventually(() => {
      expect(received).toContain('101');
    });
    pass(60_000);
    await expect(openConnections()).resolves.toBe(1);
    expect(client.closed).toBe(false);
  });
});
