import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectRefusal } from '@gateway/shared/test/refusal';
import type { Page, Resource } from '../harness/client.ts';
import { borrowGateway, type BorrowedGateway } from '../harness/borrowed-gateway.ts';

const startTimeoutMs = 60_000;

describe('management endpoints', () => {
  let gateway: BorrowedGateway;
  const services: Resource[] = [];
  const list = async (query: string, token?: string): Promise<Page> =>
    (await gateway.admin.get(`/v1/services${query}`, token === undefined ? {} : { token })).page();

  beforeAll(async () => {
    gateway = await borrowGateway();
    for (const environment of ['production', 'development', 'production', 'production']) {
      services.push(await gateway.service({ environment }));
    }
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  it('All paths are relative to {base_url}.', async () => {
    for (const { baseUrl } of [...gateway.dataPlanes, gateway.controlPlane]) {
      expect((await gateway.admin.at(baseUrl).get('/v1/services')).status).toBe(200);
    }
  });

  it('All management requests send Authorization.', async () => {
    const calls = [
      ['GET', '/v1/services'],
      ['POST', '/v1/services'],
      ['GET', '/v1/routes'],
      ['POST', '/v1/routes'],
      ['GET', '/v1/tokens'],
      ['GET', '/v1/environments'],
      ['GET', '/v1/requests'],
    ] as const;
    for (const [method, path] of calls) {
      const answer = await gateway.admin.call(method, path, { token: null });
      await expectRefusal(answer, 401, 'authentication_failed');
    }
  });

  it('Bodies are JSON with Content-Type: application/json.', async () => {
    const body = JSON.stringify({
      name: 'typed',
      environment: 'production',
      url: gateway.upstream.url,
    });
    const typed = (type: string) =>
      gateway.admin.post('/v1/services', body, { headers: { 'content-type': type } });
    await expectRefusal(await typed('text/plain'), 415, 'unsupported_media_type');
    expect((await typed('application/json')).status).toBe(201);
  });

  it('GET /v1/services: Lists services visible to the current token.', async () => {
    const { token } = await gateway.tokenClient({ environments: ['development'] });
    const all = await list('?limit=200');
    const visible = await list('?limit=200', token);
    expect(all.data.map(({ id }) => id)).toEqual(
      expect.arrayContaining(services.map(({ id }) => id)),
    );
    // The first health check may have happened in between.
    expect(visible.data).toEqual([{ ...services[1], status: expect.any(String) as unknown }]);
  });

  it('GET /v1/services: cursor is the pagination position', async () => {
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: Page = await list(`?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual((await list('?limit=200')).data.map(({ id }) => id));
  });

  it('GET /v1/services: limit is the page size', async () => {
    expect((await list('?limit=1')).data).toHaveLength(1);
    expect((await list('?limit=3')).data).toHaveLength(3);
  });

  it('GET /v1/services: Header Accept: application/json', async () => {
    const headers = { accept: 'application/json' };
    const answer = await gateway.admin.get('/v1/services', { headers });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  });

  it('GET /v1/services: Response 200 { data: [ Service, ... ], request_id: <string> }', async () => {
    const answer = await gateway.admin.get('/v1/services');
    expect(answer.status).toBe(200);
    const page = answer.page();
    expect(page.request_id).toBe(answer.headers.get('x-request-id'));
    for (const one of page.data) {
      expect(one).toMatchObject({
        id: expect.stringMatching(/^svc_/),
        name: expect.any(String),
        status: expect.any(String),
      });
    }
  });

  it('POST /v1/routes: Creates a named route to an existing service.', async () => {
    const body = { name: 'made', service_id: services[0]?.id, timeout_ms: 1000, retry_count: 1 };
    const answer = await gateway.admin.post('/v1/routes', body);
    expect(answer.status).toBe(201);
    expect(answer.json()).toMatchObject({ data: body });
    await gateway.settled();
    expect((await gateway.admin.proxy('made')).status).toBe(200);
  });

  it('POST /v1/routes: Route names are unique within an environment.', async () => {
    await gateway.route({ name: 'only-one', environment: 'development' });
    const body = { name: 'only-one', service_id: services[1]?.id };
    await expectRefusal(await gateway.admin.post('/v1/routes', body), 409, 'name_conflict');
    const elsewhere = { name: 'only-one', service_id: services[0]?.id };
    expect((await gateway.admin.post('/v1/routes', elsewhere)).status).toBe(201);
  });

  it('POST /v1/routes: Request body name string, service_id string, timeout_ms integer, retry_count integer', async () => {
    const answer = await gateway.admin.post('/v1/routes', {
      name: 7,
      service_id: 7,
      timeout_ms: '1000',
      retry_count: 1.5,
    });
    const { details = [] } = await expectRefusal(answer, 400, 'invalid_request');
    expect(details.map(({ path }) => path).sort()).toEqual([
      'name',
      'retry_count',
      'service_id',
      'timeout_ms',
    ]);
  });

  it('GET /v1/requests/{request_id}: Returns gateway timing, selected upstream, retry count and final outcome for the request identified by {request_id}.', async () => {
    await gateway.route({ name: 'looked-up' });
    await gateway.settled();
    const proxied = await gateway.admin.proxy('looked-up');
    const id = proxied.headers.get('x-request-id') ?? '';
    const answer = await gateway.admin.get(`/v1/requests/${id}`);
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({
      data: {
        id,
        timing: { gateway_ms: expect.any(Number) },
        upstream: { url: gateway.upstream.url },
        retry_count: 0,
        outcome: 'success',
      },
    });
  });

  it('GET /v1/requests/{request_id}: Available for 30 days after the request.', async () => {
    // An id contains its time. The record of an id older than 30 days is not searched.
    const unknown = await gateway.admin.get(`/v1/requests/req_${'0'.repeat(26)}`);
    await expectRefusal(unknown, 404, 'request_not_found');
    const proxied = await gateway.admin.proxy('looked-up');
    const id = proxied.headers.get('x-request-id');
    const record = (await gateway.admin.get(`/v1/requests/${id}`)).resource();
    const untilMs = Date.parse(String(record['received_at'])) + 30 * 24 * 60 * 60 * 1000;
    expect(Date.parse(String(record['expires_at']))).toBe(untilMs);
  });

  it("Other operations: Registering (adding) a service is part of the service's purpose", async () => {
    const answer = await gateway.admin.post('/v1/services', {
      name: 'registered',
      environment: 'production',
      url: gateway.upstream.url,
      health_path: '/healthz',
    });
    expect(answer.status).toBe(201);
    const { id } = answer.resource();
    expect((await list('?name=registered')).data.map((one) => one.id)).toEqual([id]);
  });
});
