import { rawCall } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { borrowGateway, type BorrowedGateway } from '../harness/borrowed-gateway.ts';

const startTimeoutMs = 60_000;
const mebibyte = 1024 * 1024;
const anId = `svc_${'0'.repeat(26)}`;

describe('refused input at the base URL', () => {
  let gateway: BorrowedGateway;
  let serviceId: string;

  beforeAll(async () => {
    gateway = await borrowGateway();
    serviceId = (await gateway.service()).id;
    await gateway.route({ name: 'orders', service_id: serviceId });
    await gateway.route({ name: 'small', max_body_bytes: 1000 });
    await gateway.route({ name: 'posts', methods: ['POST', 'PUT'] });
    await gateway.settled();
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  const badNumbers: [string, unknown][] = [
    ['timeout_ms', 0],
    ['timeout_ms', -1],
    ['timeout_ms', 300_001],
    ['timeout_ms', 1e300],
    ['retry_count', -1],
    ['retry_count', 11],
    ['retry_count', 1e300],
    ...['timeout_ms', 'retry_count'].flatMap((field): [string, unknown][] => [
      [field, 1.5],
      [field, '5'],
      [field, ''],
      [field, null],
      [field, true],
      [field, [5]],
      [field, { ms: 5 }],
    ]),
  ];

  it.each(badNumbers)(
    '400 for %s = %j in a POST and in a PATCH of a route',
    async (field, value) => {
      const body = { name: 'refused', service_id: serviceId, [field]: value };
      const created = await gateway.admin.post('/v1/routes', body);
      const { id } = (await gateway.admin.get('/v1/routes?name=orders')).page().data[0] ?? {
        id: '',
      };
      const changed = await gateway.admin.patch(`/v1/routes/${id}`, { [field]: value });
      for (const answer of [created, changed]) {
        const { details } = await expectRefusal(answer, 400, 'invalid_request');
        expect(details?.map(({ path }) => path)).toEqual([field]);
      }
    },
  );

  it.each([
    ['timeout_ms', 1],
    ['timeout_ms', 300_000],
    ['retry_count', 0],
    ['retry_count', 10],
  ])('takes %s = %j, the bound itself', async (field, value) => {
    const route = await gateway.route({ service_id: serviceId, [field]: value });
    expect(route[field]).toBe(value);
  });

  it.each([
    ['malformed JSON', '{"name": '],
    ['no object', '[]'],
    ['nothing at all', ''],
    ['an unknown field', '{"name": "a", "colour": "red"}'],
  ])('400 for %s', async (_what, body) => {
    const answer = await gateway.admin.post('/v1/services', body);
    const { details = [] } = await expectRefusal(answer, 400, 'invalid_request');
    expect(details.length).toBeGreaterThan(0);
  });

  it.each(['?limit=0', '?limit=201', '?limit=ten', '?cursor=none', '?colour=red'])(
    '400 for a list with %s',
    async (query) => {
      for (const list of ['services', 'routes', 'tokens', 'environments', 'requests']) {
        const answer = await gateway.admin.get(`/v1/${list}${query}`);
        await expectRefusal(answer, 400, 'invalid_request');
      }
    },
  );

  it('413 for a management body above 1 MiB, whatever its size', async () => {
    for (const bytes of [mebibyte + 1, 20 * mebibyte]) {
      const answer = await gateway.admin.post('/v1/services', `"${'x'.repeat(bytes)}"`);
      await expectRefusal(answer, 413, 'payload_too_large');
    }
  });

  it('413 for a proxied body above max_body_bytes of the route, but not for one of that size', async () => {
    const send = (bytes: number) => gateway.admin.proxy('small', { body: 'x'.repeat(bytes) });
    expect((await send(1000)).status).toBe(200);
    const before = gateway.upstream.seen.length;
    await expectRefusal(await send(1001), 413, 'payload_too_large');
    expect(gateway.upstream.seen).toHaveLength(before);
  });

  it('415 for a management body that is not JSON', async () => {
    for (const type of ['text/plain', 'application/xml', 'multipart/form-data; boundary=x']) {
      const headers = { 'content-type': type };
      const answer = await gateway.admin.post('/v1/services', '{}', { headers });
      await expectRefusal(answer, 415, 'unsupported_media_type');
    }
  });

  it('405 with Allow for a method that a path does not accept', async () => {
    const calls = [
      ['PUT', '/v1/services', 'GET, HEAD, POST'],
      ['POST', `/v1/services/${anId}`, 'GET, HEAD, PUT, PATCH, DELETE'],
      ['DELETE', '/v1/requests', 'GET, HEAD'],
      ['GET', '/v1/proxy/posts', 'POST, PUT'],
    ] as const;
    for (const [method, path, allow] of calls) {
      const answer = await gateway.admin.call(method, path);
      await expectRefusal(answer, 405, 'method_not_allowed');
      expect(answer.headers.get('allow')).toBe(allow);
    }
  });

  it('404 for an unknown path', async () => {
    const paths = ['/', '/v1', '/v1/', '/v1/nothing', '/v2/services', '/v1/proxy', '/v1/proxy/'];
    for (const path of [...paths, '/V1/services', '/metrics', '/healthz']) {
      await expectRefusal(await gateway.admin.get(path), 404, 'not_found');
    }
  });

  it.each([
    ['/v1/services/', 'service_not_found'],
    ['/v1/routes/', 'route_not_found'],
    ['/v1/tokens/', 'token_not_found'],
    ['/v1/environments/', 'environment_not_found'],
    ['/v1/requests/', 'request_not_found'],
  ] as const)('404 for an id below %s that names nothing', async (path, code) => {
    for (const id of ['none', anId, '%00', 'a'.repeat(500), '..%2f..%2fetc']) {
      await expectRefusal(await gateway.admin.get(path + id), 404, code);
    }
  });

  it('400 for a sub-path that leaves the upstream URL, in every encoding', async () => {
    const before = gateway.upstream.seen.length;
    const { port } = new URL(gateway.admin.baseUrl);
    const subPaths = [
      '/../a',
      '/%2e%2e/a',
      '/a/%2E%2e%2fb',
      '/%252e%252e/a',
      '/..%5cb',
      '/a/..;/b',
    ];
    for (const subPath of subPaths) {
      // fetch would resolve these paths itself.
      const target = `/v1/proxy/orders${subPath}`;
      const answer = await rawCall(Number(port), { target }, gateway.admin.token);
      await expectRefusal(answer, 400, 'invalid_request');
    }
    expect(gateway.upstream.seen).toHaveLength(before);
  });
});
