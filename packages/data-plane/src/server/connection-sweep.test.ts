import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { eventually } from '@gateway/shared/testing/eventually';
import { manualClock, type ManualClock } from '@gateway/shared/testing/manual-clock';
import { sweepConnections } from './connection-sweep.ts';

const GET = 'GET / HTTP/1.1\r\nHost: gateway\r\n\r\n';
const LIMITS = { keepAliveTimeoutMs: 8_000, stalledTimeoutMs: 4_000, maxConnections: 10 };

let clock: ManualClock;
let server: Server;
let answer: (response: ServerResponse) => void;
let client: Socket;
let received: string;

beforeEach(async () => {
  clock = manualClock();
  answer = (response) => response.end('ok');
  server = createServer({ keepAliveTimeout: 0 }, (_request, response) => {
    answer(response);
  });
  server.on('upgrade', (_request, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\n\r\n');
  });
  sweepConnections(server, clock, LIMITS);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  received = '';
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined);
  await once(client, 'connect');
});

afterEach(() => {
  client.destroy();
  server.closeAllConnections();
  server.close();
});

function read(): void {
  client.setEncoding('latin1').on('data', (text: string) => (received += text));
}

/** Lets the time pass in the steps in which the sweep looks. */
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

describe('sweepConnections', () => {
  it('cuts a connection that rests for longer than the keep-alive time, and none before', async () => {
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

  it('cuts resting connections sooner where nine in ten of all are taken', async () => {
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

  it('leaves a connection alone whose response takes its time', async () => {
    read();
    let pending: ServerResponse | undefined;
    answer = (response) => (pending = response);
    client.write(GET);
    await eventually(() => {
      expect(pending).toBeDefined();
    });
    pass(60_000);
    pending?.end('late');
    await eventually(() => {
      expect(received).toContain('late');
    });
  });

  it('cuts a caller that takes nothing of its response', async () => {
    let waiting = false;
    answer = (response) => {
      waiting = !response.write(Buffer.alloc(32 * 1024 * 1024));
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

  it('leaves an upgraded connection to its own idle time', async () => {
    read();
    client.write('GET / HTTP/1.1\r\nHost: gateway\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
    await eventually(() => {
      expect(received).toContain('101');
    });
    pass(60_000);
    await expect(openConnections()).resolves.toBe(1);
    expect(client.closed).toBe(false);
  });
});
