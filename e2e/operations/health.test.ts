import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../harness/gateway.ts';

const startTimeoutMs = 60_000;

describe('the admin ports of both planes', () => {
  let gateway: Gateway;
  const admins = () => [gateway.controlPlane, ...gateway.dataPlanes].map((one) => one.adminUrl);
  const metricsOf = async (adminUrl: string) => (await fetch(`${adminUrl}/metrics`)).text();

  beforeAll(async () => {
    gateway = await startGateway();
    await gateway.route({ name: 'orders' });
    await gateway.settled();
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  it('answer /healthz with 200 while the process runs', async () => {
    for (const url of admins()) {
      const response = await fetch(`${url}/healthz`);
      expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
    }
  });

  it('answer /readyz with 200 while the process serves', async () => {
    for (const url of admins()) {
      const response = await fetch(`${url}/readyz`);
      expect([response.status, await response.json()]).toEqual([
        200,
        { status: 'ready', reasons: [] },
      ]);
    }
  });

  it('answer /metrics in the text format of Prometheus, each sample with its type', async () => {
    for (const url of admins()) {
      const response = await fetch(`${url}/metrics`);
      expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
      const text = await response.text();
      const typed = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name));
      expect(typed.has('process_cpu_seconds_total')).toBe(true);
      const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
      for (const sample of samples) {
        const name = /^([a-zA-Z_:][\w:]*)(\{.*\})? \S+$/.exec(sample)?.[1] ?? '';
        const family = name.replace(/_(bucket|sum|count)$/, '');
        expect([sample, typed.has(name) || typed.has(family)]).toEqual([sample, true]);
      }
    }
  });

  it('answer after a SIGHUP, which ends no process, although none has a certificate to reload', async () => {
    const planes = [gateway.controlPlane, ...gateway.dataPlanes];
    for (const { pid } of planes) process.kill(pid, 'SIGHUP');
    for (const url of [...admins(), ...admins()]) {
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
    }
  });

  it('count the requests of a route by status and outcome', async () => {
    const [dataPlane] = gateway.dataPlanes;
    const url = dataPlane?.adminUrl ?? '';
    const sample = /^gateway_requests_total\{(?=.*route="orders")(?=.*status="200").*\} (\d+)$/m;
    const count = async () => Number(sample.exec(await metricsOf(url))?.[1] ?? 0);
    const before = await count();
    for (let call = 0; call < 3; call += 1) await gateway.admin.proxy('orders');
    expect(await count()).toBe(before + 3);
  });

  it('count management calls by their pattern, never by an id', async () => {
    const { id } = await gateway.service();
    await gateway.admin.get(`/v1/services/${id}`);
    const text = await metricsOf(gateway.controlPlane.adminUrl);
    expect(text).toContain('/v1/services/{id}');
    expect(text).not.toContain(id);
  });

  it('cannot be reached at the base URL or the management port', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      expect((await gateway.admin.get(path)).status).toBe(404);
      const direct = gateway.admin.at(gateway.controlPlane.baseUrl);
      expect((await direct.get(path)).status).toBe(404);
    }
  });
});
