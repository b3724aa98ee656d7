import { readFile } from 'node:fs/promises';
import { closedPort, startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer } from '../harness/client.ts';
import { startGateway, type Gateway } from '../harness/gateway.ts';

const startTimeoutMs = 60_000;

/** Texts in a request that no log and no metric may contain, by their place in the request. */
const markers = {
  headerValue: 'marker-header-5d1c',
  body: 'marker-body-81aa',
  queryValue: 'marker-query-c09e',
  upstreamCredential: 'bWFya2VyLXVzZXI6bWFya2VyLXB3',
  responseBody: 'marker-response-77ef',
};

describe('the logs of all processes at level trace', () => {
  let gateway: Gateway;
  let speaking: TestUpstream;
  const secrets: string[] = [];
  const proxied: Answer[] = [];
  const managed: Answer[] = [];
  let logs: string;
  let metrics: string;

  const request = {
    headers: {
      'x-custom': markers.headerValue,
      cookie: markers.headerValue,
      'idempotency-key': markers.headerValue,
      'x-request-id': 'callers-own-id',
    },
    body: { note: markers.body },
  };

  beforeAll(async () => {
    gateway = await startGateway({ dataPlanes: 2, env: { LOG_LEVEL: 'trace' } });
    secrets.push(gateway.stack.adminToken, gateway.stack.masterKeys.split(':')[1] ?? '');
    speaking = await startUpstream((_seen, response) => void response.end(markers.responseBody));
    const spoken = await gateway.service({ url: speaking.url });
    await gateway.route({ name: 'orders', service_id: spoken.id });
    await gateway.route({ name: 'open', auth: { type: 'none' } });
    await gateway.route({ name: 'failing', upstreamPath: '/status/500', retry_count: 0 });
    const { id } = await gateway.service({ url: `http://127.0.0.1:${await closedPort()}` });
    await gateway.route({ name: 'gone', service_id: id });
    const { token, tokenId } = await gateway.tokenClient();
    await gateway.settled();
    const rotated = await gateway.admin.post(`/v1/tokens/${tokenId}/rotate`, {});
    const unknown = createTokenSecret();
    secrets.push(token, String(rotated.resource()['secret']), unknown);

    for (const route of ['orders', 'failing', 'gone', 'unknown']) {
      for (const one of [token, unknown]) {
        proxied.push(
          await gateway.admin.proxy(`${route}?q=${markers.queryValue}`, { ...request, token: one }),
        );
      }
    }
    const authorization = `Basic ${markers.upstreamCredential}`;
    proxied.push(
      await gateway.admin.proxy('open', {
        ...request,
        headers: { ...request.headers, authorization },
      }),
    );
    proxied.push(
      await gateway.admin.proxy('orders', {
        ...request,
        headers: { ...request.headers, 'x-gateway-version': markers.headerValue },
        token,
      }),
    );
    managed.push(
      await gateway.admin.get(`/v1/services?name=${markers.queryValue}`, { token }),
      await gateway.admin.get('/v1/services', { token: unknown }),
      await gateway.admin.get(`/v1/tokens/${token}`),
      await gateway.admin.post('/v1/services', { name: markers.body, colour: markers.body }),
      await gateway.admin.post('/v1/services', `{"${markers.body}`),
      rotated,
    );

    const planes = [...gateway.dataPlanes, gateway.controlPlane];
    const texts = planes.map(async ({ adminUrl }) => (await fetch(`${adminUrl}/metrics`)).text());
    metrics = (await Promise.all(texts)).join('\n');
    for (const plane of planes) await plane.stop();
    logs = (await Promise.all(planes.map(({ logFile }) => readFile(logFile, 'utf8')))).join('\n');
  }, startTimeoutMs);
  afterAll(async () => {
    await gateway.close();
    await speaking.close();
  });

  const isOf = (entry: Record<string, unknown>, body: string, id: string | null) =>
    entry['body'] === body && entry['gateway.request.id'] === id;

  it('have one line for each request, with its id, its status and its outcome', () => {
    const entries = logs
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    for (const { headers, status } of proxied) {
      const id = headers.get('x-request-id');
      const lines = entries.filter((entry) => isOf(entry, 'request', id));
      expect(lines).toEqual([
        expect.objectContaining({
          'http.response.status_code': status,
          'gateway.outcome': expect.any(String),
          'gateway.route.name': expect.any(String),
          trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
        }),
      ]);
    }
    for (const { headers, status } of managed) {
      const id = headers.get('x-request-id');
      const lines = entries.filter((entry) => isOf(entry, 'management call', id));
      expect(lines).toEqual([
        expect.objectContaining({
          'http.response.status_code': status,
          'http.request.method': expect.any(String),
        }),
      ]);
    }
  });

  it('contain no token, valid or not, and no master key', () => {
    expect(secrets).toHaveLength(5);
    for (const secret of secrets) expect(logs).not.toContain(secret);
    expect(logs).not.toMatch(/gwt_/);
  });

  it.each(Object.entries(markers).filter(([where]) => where !== 'responseBody'))(
    'contain no part of a %s',
    (_where, marker) => {
      expect(logs).not.toContain(marker);
    },
  );

  it('contain no part of a response body', () => {
    const withBody = proxied.filter(({ body }) => body.includes(markers.responseBody));
    expect(withBody).toHaveLength(1);
    expect(logs).not.toContain(markers.responseBody);
  });

  it('and the metrics contain none of these', () => {
    for (const text of [...Object.values(markers), ...secrets]) {
      expect(metrics).not.toContain(text);
    }
    expect(metrics).toContain('gateway_requests_total');
  });
});
