import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { readOpenFilesLimit } from '@gateway/data-plane/limits/open-files';
import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../harness/gateway.ts';
import { openConnections, readMetric, residentBytes } from '../harness/figures.ts';

const startTimeoutMs = 60_000;
const testTimeoutMs = 90_000;
/** Both ends are on this machine, and each process reserves a quarter of its open files. */
const many = Math.min(10_000, Math.floor((readOpenFilesLimit() ?? 4_000) * 0.7));
const perAddress = 3_000;
/** Long enough to open all of them before the first one is closed. */
const keepAliveMs = 12_000;
const mebibyte = 1024 * 1024;
const bytesOfOne = 24 * 1024;

describe(`${many} idle connections`, () => {
  let gateway: Gateway;
  let port: number;
  let adminUrl: string;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    gateway = await startGateway({
      env: {
        KEEP_ALIVE_TIMEOUT_MS: String(keepAliveMs),
        MAX_CONNECTIONS_PER_ADDRESS: String(perAddress),
        // Without a trusted proxy, so that the limit for one address applies.
        TRUSTED_PROXIES: '',
      },
    });
    await gateway.route({ name: 'canary' });
    await gateway.settled();
    const [plane] = gateway.dataPlanes;
    port = Number(new URL(plane?.baseUrl ?? '').port);
    adminUrl = plane?.adminUrl ?? '';
    for (let call = 0; call < 200; call += 1) await gateway.admin.proxy('canary');
  }, startTimeoutMs);

  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await gateway.close();
  }, startTimeoutMs);

  /** On Linux all of 127.0.0.0/8 is this machine; elsewhere only 127.0.0.1. */
  const addressOf = (index: number) =>
    process.platform === 'linux' ? `127.0.1.${1 + Math.floor(index / 2_500)}` : '127.0.0.1';

  async function open(count: number, localAddress: (index: number) => string): Promise<void> {
    for (let from = 0; from < count; from += 250) {
      const some = Array.from({ length: Math.min(250, count - from) }, (_, index) => {
        const socket = connect({
          port,
          host: '127.0.0.1',
          localAddress: localAddress(from + index),
        });
        socket.on('error', () => undefined);
        sockets.push(socket);
        return once(socket, 'connect');
      });
      await Promise.all(some);
    }
  }

  it(
    'use little memory, exclude no other caller, and are closed after their timeout',
    async () => {
      const before = await residentBytes(adminUrl);
      await open(many, addressOf);
      await eventually(async () => {
        expect(await openConnections(adminUrl)).toBeGreaterThanOrEqual(many);
      });
      for (let call = 0; call < 50; call += 1) {
        expect((await gateway.admin.proxy('canary')).status).toBe(200);
      }
      const growth = (await residentBytes(adminUrl)) - before;
      expect(growth).toBeLessThan(many * bytesOfOne + 50 * mebibyte);
      await eventually(
        async () => {
          expect(await openConnections(adminUrl)).toBeLessThan(20);
        },
        { deadlineMs: keepAliveMs * 2, intervalMs: 200 },
      );
      expect((await gateway.admin.proxy('canary')).status).toBe(200);
    },
    testTimeoutMs,
  );

  it(
    'are refused above the limit of one address, and counted, while another address is served',
    async () => {
      await open(perAddress + 50, () => '127.0.0.1');
      await eventually(async () => {
        const name = String.raw`gateway_connections_unanswered_total\{reason="too_many_of_address"[^}]*\}`;
        expect(await readMetric(adminUrl, name)).toBeGreaterThanOrEqual(50);
        expect(await openConnections(adminUrl)).toBeLessThanOrEqual(perAddress + 20);
      });
      const other = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.9' });
      sockets.push(other);
      let answer = '';
      other.on('data', (bytes: Buffer) => (answer += bytes.toString('latin1')));
      const token = gateway.admin.token;
      const lines = ['GET /v1/proxy/canary HTTP/1.1', 'Host: a', `Authorization: Bearer ${token}`];
      other.write(`${lines.join('\r\n')}\r\n\r\n`);
      await eventually(() => expect(answer).toContain('HTTP/1.1 200 OK'));
    },
    testTimeoutMs,
  );
});
