import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { systemClock } from '../clock.ts';
import { createLogger } from '../telemetry/logger.ts';
import { createTestAuthority } from '../../test/certificates.ts';
import { eventually } from '../../test/eventually.ts';
import { assertServerVersion, connectNats } from './connection.ts';
import { OLDEST_NATS_SERVER } from './server-version.ts';

const INFO = {
  server_id: 'x',
  version: OLDEST_NATS_SERVER,
  headers: true,
  proto: 1,
  max_payload: 1024,
};

describe('the connection to NATS', () => {
  let stopping = new AbortController();
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let said = '';
  let greetings = 0;
  beforeEach(() => {
    stopping = new AbortController();
    [said, greetings] = ['', 0];
  });
  afterEach(() => {
    stopping.abort(new Error('the test is over'));
    for (const socket of sockets) socket.destroy();
    server?.close();
  });

  /** Greets like a NATS server, then records what it receives. */
  async function listen(info: object, greeted: (socket: Socket) => Socket): Promise<number> {
    const listening = (server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      greetings += 1;
      socket.write(`INFO ${JSON.stringify({ ...INFO, ...info })}\r\n`);
      const heard = greeted(socket);
      heard.on('error', () => undefined);
      heard.on('data', (bytes: Buffer) => {
        said += bytes.toString('latin1');
        if (said.includes('PING')) heard.write('PONG\r\n');
      });
    }));
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
    return (listening.address() as AddressInfo).port;
  }

  const start = (url: string, log = createLogger('test', 'silent')) => {
    const { signal } = stopping;
    // The clock stands still, so the next error line is not due during the test.
    const clock = { ...systemClock, monotonicMs: () => 0 };
    return connectNats({ url, name: 'test', log, clock, signal });
  };

  it('sends the user and password of the URL', async () => {
    const port = await listen({ auth_required: true }, (socket) => socket);
    const connection = await start(`nats://me:s3cret@127.0.0.1:${port}`);
    expect(said).toContain('"user":"me","pass":"s3cret"');
    await connection.close();
  });

  it('retries after the server refused the credentials, and logs that once', async () => {
    const refusals = 4;
    const port = await listen({ auth_required: true }, (socket) => {
      const refused = greetings > 1 && greetings <= 1 + refusals;
      if (refused) socket.end("-ERR 'Authorization Violation'\r\n");
      return socket;
    });
    const lines: string[] = [];
    const write = (line: string) => lines.push((JSON.parse(line) as { msg: string }).msg);
    const connection = await start(`nats://me:s3cret@127.0.0.1:${port}`, pino({}, { write }));
    for (const socket of sockets) socket.destroy();
    await eventually(async () => {
      expect(greetings).toBeGreaterThan(1 + refusals);
      await connection.flush();
    });
    expect(connection.isClosed()).toBe(false);
    const expected = [
      'connected to NATS',
      'NATS connection lost; reconnecting',
      'NATS error',
      'reconnected to NATS',
    ];
    await eventually(() => expect(lines).toEqual(expected));
    await connection.close();
  });

  it('refuses an old server for the start, and logs one that comes later', async () => {
    const info = { version: OLDEST_NATS_SERVER };
    const port = await listen(info, (socket) => socket);
    const lines: unknown[] = [];
    const write = (line: string) => lines.push(JSON.parse(line));
    const connection = await start(`nats://127.0.0.1:${port}`, pino({}, { write }));
    expect(() => assertServerVersion(undefined)).not.toThrow();
    expect(() => assertServerVersion(connection)).not.toThrow();
    info.version = '2.9.10';
    for (const socket of sockets) socket.destroy();
    await eventually(() => {
      const reason: unknown = expect.stringContaining('nats-server 2.9.10 is not supported');
      expect(lines).toContainEqual(
        expect.objectContaining({ msg: 'unsupported NATS server', reason }),
      );
    });
    expect(() => assertServerVersion(connection)).toThrow(
      /^NATS_URL: nats-server 2\.9\.10 is not supported: .* Install 2\.10\.23 or newer\.$/,
    );
    await connection.close();
  });

  it.each([
    ['has no TLS', {}, (socket: Socket) => socket],
    [
      'cannot prove its name',
      { tls_required: true },
      (socket: Socket) => {
        const { certPem, keyPem } = createTestAuthority('unknown').issue(['localhost']);
        const secureContext = createSecureContext({ cert: certPem, key: keyPem });
        return new TLSSocket(socket, { isServer: true, secureContext });
      },
    ],
  ])('with tls:// sends nothing to a server that %s', async (_which, info, greeted) => {
    const port = await listen(info, greeted);
    const pending = start(`tls://me:s3cret@localhost:${port}`);
    pending.catch(() => undefined);
    // The second connection shows that the first attempt has ended.
    await eventually(() => {
      expect(greetings).toBeGreaterThan(1);
    });
    expect(said).toBe('');
  });
});
