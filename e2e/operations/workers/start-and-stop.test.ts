import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { eventually } from '@gateway/shared/test/eventually';
import { writeCertificateFiles } from '@gateway/shared/test/served-certificate';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../../harness/gateway.ts';
import { SHORT_QUOTA, shareQuotas } from '../../harness/quota-shares.ts';
import { startSoakUpstreams } from '../../soak/upstreams.ts';
import { childrenOf, isRunning } from './group.ts';
import { echo, getByHttp2, shownNames } from './secure.ts';
import { loadGroup, restartMs, startGroup } from './start-group.ts';

const testTimeoutMs = 60_000;

describe('the start and the stop of a data plane with two workers', () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway({ dataPlanes: 0 });
    await gateway.route({
      name: 'slow',
      upstreamPath: '/slow/100',
      rate_limit: SHORT_QUOTA,
    });
    await gateway.route({
      name: 'long',
      upstreamPath: '/slow/1500',
      rate_limit: SHORT_QUOTA,
    });
  }, testTimeoutMs);
  afterAll(() => gateway.close());

  it('drains both workers after SIGTERM: every response is complete, the exit code is 0, and a start with one worker sends every record', async () => {
    const name = 'spooling';
    const stopped = await startGroup(gateway, { name });
    await shareQuotas([stopped]);
    await gateway.stack.nats.stop();
    const forwarded = () => gateway.upstream.seen.filter(({ url }) => url === '/slow/100').length;
    const before = forwarded();
    const calls = loadGroup(stopped, gateway.admin.token, 'slow');
    const long = gateway.admin.at(stopped.baseUrl).proxy('long');
    await eventually(() => expect(calls.answers.length).toBeGreaterThan(20));
    const workers = childrenOf(stopped.pid);
    expect(await stopped.stop()).toEqual({ code: 0, signal: null });
    await calls.ended;
    expect((await long).status).toBe(200);
    expect(new Set(calls.answers.map(({ status }) => status))).toEqual(new Set([200]));
    // Every forwarded request was answered. A connection that is opened while the port closes may be reset, unread.
    expect(forwarded() - before).toBe(calls.answers.length);
    expect(['ECONNREFUSED', 'ECONNRESET']).toEqual(expect.arrayContaining([...calls.failures]));
    expect(workers.filter(isRunning)).toEqual([]);

    await gateway.stack.restartNats();
    const single = await gateway.stack.startDataPlane({ name });
    const client = gateway.admin.at(single.baseUrl);
    for (const { requestId } of calls.answers) {
      await eventually(
        async () => expect((await client.get(`/v1/requests/${requestId}`)).status).toBe(200),
        { deadlineMs: restartMs },
      );
    }
    await single.stop();
  });

  it('serves TLS, HTTP/2 and WebSocket, and all workers reload the certificate after SIGHUP', async () => {
    const authority = createTestAuthority('workers');
    const files = await writeCertificateFiles(authority, ['127.0.0.1']);
    const upstreams = await startSoakUpstreams();
    try {
      const service = await gateway.service({ url: upstreams.good });
      await gateway.route({ name: 'sockets', service_id: service.id });
      const secure = await startGroup(gateway, {
        name: 'secure',
        env: {
          TLS_CERT_FILE: files.certFile,
          TLS_KEY_FILE: files.keyFile,
          TLS_RELOAD_INTERVAL_MS: '86400000',
        },
      });
      const [port = 0] = secure.ports;
      const target = { port, ca: authority.certPem, token: gateway.admin.token };
      // More than one connection to each worker.
      const five = <T>(make: () => Promise<T>) => Promise.all(Array.from({ length: 5 }, make));
      const answers = await five(() => getByHttp2(target, '/v1/proxy/sockets'));
      expect(new Set(answers)).toEqual(new Set(['200: {"ok":true}']));
      const echoed = await five(() => echo(target, '/v1/proxy/sockets', 'over a worker'));
      expect(new Set(echoed)).toEqual(new Set(['over a worker']));
      await files.write(['127.0.0.1', 'renewed.test']);
      process.kill(secure.pid, 'SIGHUP');
      await eventually(async () => {
        for (const names of await five(() => shownNames(target))) {
          expect(names).toContain('renewed.test');
        }
      });
      expect(await secure.stop()).toEqual({ code: 0, signal: null });
    } finally {
      await upstreams.close();
      await files.remove();
    }
  });

  it('fails to start if its port is in use, and names the port', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    try {
      const failed = await gateway.stack.startDataPlane({
        env: { WORKERS: '2' },
        // Overrides the free port that the stack has picked.
        launcher: ['env', `GATEWAY_PORT=${port}`],
        waitForReady: false,
      });
      expect(await failed.exited).toEqual({ code: 1, signal: null });
      const fatal = failed.logs().filter((line) => line.startsWith('{"severity_text":"FATAL"'));
      const said = fatal.map((line) => (JSON.parse(line) as { body: string }).body);
      expect(new Set(said)).toEqual(
        new Set([`data plane cannot start: port ${port} is in use; set GATEWAY_PORT`]),
      );
    } finally {
      taken.close();
    }
  });
});
