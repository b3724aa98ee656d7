import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { ATTACKERS, startAttack } from '@gateway/testing/attackers';
import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../harness/gateway.ts';
import { openConnections, readMetric, residentBytes } from '../harness/figures.ts';

const startTimeoutMs = 60_000;
const mebibyte = 1024 * 1024;
/** Enough attackers to measure the cost of one; fewer if each keeps a core busy. */
const connectionsOf = (name: string) => (name.includes('of one byte') ? 6 : 40);
/** Tolerance for a busy machine, added to each timeout below. */
const longestMs = 20_000;
const maxGrowthBytes = 120 * mebibyte;

const limits = {
  HEADERS_TIMEOUT_MS: '1000',
  KEEP_ALIVE_TIMEOUT_MS: '1000',
  BODY_IDLE_TIMEOUT_MS: '1000',
  LINGER_TIMEOUT_MS: '700',
};

describe('slow and oversized callers', () => {
  let gateway: Gateway;
  let large: Server;
  let port: number;
  let adminUrl: string;

  beforeAll(async () => {
    gateway = await startGateway({ env: limits });
    large = createServer((request, response) => {
      request.resume();
      response.end(Buffer.alloc(16 * mebibyte, 'x'));
    });
    large.listen(0, '127.0.0.1');
    await once(large, 'listening');
    const largeUrl = `http://127.0.0.1:${(large.address() as AddressInfo).port}`;
    const service = await gateway.service({ url: largeUrl });
    await gateway.route({ name: 'canary' });
    await gateway.route({ name: 'attacked', timeout_ms: 1500, max_upload_ms: 1500 });
    await gateway.route({ name: 'small', max_body_bytes: mebibyte });
    await gateway.route({ name: 'large', timeout_ms: 1500, service_id: service.id });
    await gateway.settled();
    const [plane] = gateway.dataPlanes;
    port = Number(new URL(plane?.baseUrl ?? '').port);
    adminUrl = plane?.adminUrl ?? '';
    // Memory that the first requests allocate permanently does not belong to the attack.
    for (let call = 0; call < 200; call += 1) await gateway.admin.proxy('canary');
  }, startTimeoutMs);

  afterAll(async () => {
    await gateway.close();
    large.closeAllConnections();
    large.close();
  }, startTimeoutMs);

  it.each(Object.entries(ATTACKERS))(
    'lose their connections within limited time and memory, while others are served: one that %s',
    async (name, attacker) => {
      const connections = connectionsOf(name);
      const beforeBytes = await residentBytes(adminUrl);
      const before = await openConnections(adminUrl);
      const route =
        name.startsWith('reads') || name.startsWith('asks again') ? 'large' : 'attacked';
      const target = { port, token: gateway.admin.token, route };
      const attack = startAttack({ attacker, target, connections, maxMs: longestMs * 2 });
      let mostBytes = beforeBytes;
      let calls = 0;
      try {
        await eventually(() => expect(attack.opened).toBe(connections));
        await eventually(
          async () => {
            const answer = await gateway.admin.proxy('canary');
            calls += 1;
            expect(answer.status).toBe(200);
            mostBytes = Math.max(mostBytes, await residentBytes(adminUrl));
            expect(await openConnections(adminUrl)).toBeLessThanOrEqual(before + 2);
          },
          { deadlineMs: longestMs, intervalMs: 50 },
        );
      } finally {
        attack.stop();
      }
      expect(calls).toBeGreaterThan(0);
      expect(mostBytes - beforeBytes).toBeLessThan(maxGrowthBytes);
      // The attack leaves no connections.
      await eventually(async () => {
        expect(await readMetric(adminUrl, 'gateway_requests_in_flight')).toBe(0);
      });
    },
    longestMs + 10_000,
  );

  it('get a response that names the error, if a response can be sent', async () => {
    const answered = async (name: keyof typeof ATTACKERS, route = 'attacked') => {
      const attacker = ATTACKERS[name];
      const target = { port, token: gateway.admin.token, route };
      const attack = startAttack({ attacker, target, connections: 1, maxMs: longestMs });
      try {
        return await eventually(() => {
          expect(attack.answers).toHaveLength(1);
          return attack.answers[0];
        });
      } finally {
        attack.stop();
      }
    };
    expect(await answered('sends a head byte by byte')).toBe('HTTP/1.1 408 Request Timeout');
    expect(await answered('sends 1 MB of headers')).toBe(
      'HTTP/1.1 431 Request Header Fields Too Large',
    );
    expect(await answered('sends 100 000 header lines')).toBe(
      'HTTP/1.1 431 Request Header Fields Too Large',
    );
    expect(await answered('sends 20 000 empty header lines')).toBe(
      'HTTP/1.1 431 Request Header Fields Too Large',
    );
    expect(await answered('sends chunks without end', 'small')).toBe(
      'HTTP/1.1 413 Payload Too Large',
    );
    expect(await answered('stops within a body')).toMatch(/^HTTP\/1\.1 4/);
  });
});
