import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer, Client } from '../harness/client.ts';
import { percentile } from '../harness/figures.ts';
import { startGateway, type Gateway } from '../harness/gateway.ts';

const startTimeoutMs = 60_000;
const idOf = (answer: Answer) => answer.headers.get('x-request-id') ?? '';

describe('the record of a request', () => {
  let gateway: Gateway;
  let reader: Client;

  beforeAll(async () => {
    gateway = await startGateway({ dataPlanes: 2 });
    const second = await gateway.stack.startControlPlane();
    reader = gateway.admin.at(second.baseUrl);
    await gateway.route({ name: 'orders', upstreamPath: '/base' });
    await gateway.settled();
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  it('is found by id within a second after the response, at either control plane', async () => {
    const waitsMs: number[] = [];
    for (let count = 0; count < 40; count += 1) {
      const { baseUrl } = gateway.dataPlanes[count % 2] ?? gateway.controlPlane;
      const answer = await gateway.admin.at(baseUrl).proxy('orders');
      const startedMs = performance.now();
      const through = count % 4 < 2 ? reader : gateway.admin;
      const found = await through.get(`/v1/requests/${idOf(answer)}`);
      waitsMs.push(performance.now() - startedMs);
      expect(found.resource().id).toBe(idOf(answer));
    }
    const [median, p95, max] = [0.5, 0.95, 1].map((rank) => percentile(waitsMs, rank));
    process.stderr.write(
      `record found after the response, 40 requests: median ${median?.toFixed(0)} ms, ` +
        `p95 ${p95?.toFixed(0)} ms, max ${max?.toFixed(0)} ms\n`,
    );
    expect(median).toBeLessThan(1000);
  });

  it('shows that a caller disconnected before its response', async () => {
    await gateway.route({ name: 'left', upstreamPath: '/slow/4000' });
    await gateway.settled();
    const left = new AbortController();
    const { length } = gateway.upstream.seen;
    const pending = fetch(`${gateway.admin.baseUrl}/v1/proxy/left`, {
      headers: { authorization: `Bearer ${gateway.admin.token}` },
      signal: left.signal,
    });
    await eventually(() => expect(gateway.upstream.seen.length).toBeGreaterThan(length));
    left.abort();
    await expect(pending).rejects.toThrow(/abort/);
    await eventually(async () => {
      const { data } = (await reader.get('/v1/requests?route=left')).page();
      expect(data).toMatchObject([{ outcome: 'client_aborted', status: null }]);
    });
  });

  it('contains no header value, body, query value or secret', async () => {
    const marker = 'marker-7f3a';
    const { token } = await gateway.tokenClient();
    await gateway.settled();
    const answer = await gateway.admin.proxy(`orders/items?q=${marker}`, {
      token,
      body: { note: marker },
      headers: { cookie: marker, 'x-custom': marker, 'idempotency-key': marker, referer: marker },
    });
    expect(answer.body).toContain(marker);
    const found = await reader.get(`/v1/requests/${idOf(answer)}`);
    expect(found.resource().id).toBe(idOf(answer));
    expect(found.body).not.toContain(marker);
    expect(found.body).not.toContain(token);
  });
});
