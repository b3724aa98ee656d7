import { expectRefusal } from '@gateway/shared/test/refusal';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Resource } from '../harness/client.ts';
import { borrowGateway, type BorrowedGateway } from '../harness/borrowed-gateway.ts';

const startTimeoutMs = 60_000;

describe('resources at the base URL', () => {
  let gateway: BorrowedGateway;
  /** The response of each data plane for the route. */
  const everywhere = (route: string) =>
    Promise.all(
      gateway.dataPlanes.map(({ baseUrl }) =>
        gateway.admin.at(baseUrl).proxy(route, { method: 'GET' }),
      ),
    );

  beforeAll(async () => {
    gateway = await borrowGateway();
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  it('answers 201 with the Location of the new resource', async () => {
    const { admin, upstream } = gateway;
    const bodies: [string, Record<string, unknown>][] = [
      ['/v1/environments', { name: 'staging' }],
      ['/v1/services', { name: 'located', environment: 'staging', url: upstream.url }],
      ['/v1/tokens', { name: 'located', environments: ['staging'], scopes: ['proxy'] }],
    ];
    const service = await gateway.service();
    bodies.push(['/v1/routes', { name: 'located', service_id: service.id }]);
    for (const [path, body] of bodies) {
      const made = await admin.post(path, body);
      expect(made.status).toBe(201);
      const location = made.headers.get('location') ?? '';
      expect(location.startsWith(`${path}/`)).toBe(true);
      const { secret, ...shown } = made.resource();
      expect(secret === undefined).toBe(path !== '/v1/tokens');
      const read = await admin.get(location);
      // The new environment may be published in between.
      const { config_version, ...settings } = read.resource();
      delete (shown as Record<string, unknown>)['config_version'];
      expect({ status: read.status, settings }).toEqual({ status: 200, settings: shown });
      expect(config_version === undefined).toBe(path !== '/v1/environments');
    }
  });

  it('sends traffic to the new service after each PATCH of a route', async () => {
    const [first, second] = await Promise.all(
      ['/first', '/second'].map((path) =>
        gateway.service({ url: gateway.upstream.url + path, name: path.slice(1) }),
      ),
    );
    const route = await gateway.route({ name: 'moved', service_id: String(first?.id) });
    for (const [service, path] of [
      [second, '/second'],
      [first, '/first'],
    ] as const) {
      const answer = await gateway.admin.patch(`/v1/routes/${route.id}`, {
        service_id: service?.id,
      });
      expect(answer.status).toBe(200);
      await gateway.settled();
      for (const one of await everywhere('moved'))
        expect(one.json()).toMatchObject({ upstream: path });
    }
  });

  it('sends traffic to the new url after a PATCH of a service', async () => {
    const service = await gateway.service();
    await gateway.route({ name: 'relocated', service_id: service.id });
    const url = `${gateway.upstream.url}/relocated`;
    expect((await gateway.admin.patch(`/v1/services/${service.id}`, { url })).status).toBe(200);
    await gateway.settled();
    for (const one of await everywhere('relocated')) {
      expect(one.json()).toMatchObject({ upstream: '/relocated' });
    }
  });

  it('answers 404 for a disabled route, and serves it again when it is active', async () => {
    const { id } = await gateway.route({ name: 'switched' });
    for (const [status, expected] of [
      ['disabled', 404],
      ['active', 200],
    ] as const) {
      await gateway.admin.patch(`/v1/routes/${id}`, { status });
      await gateway.settled();
      for (const one of await everywhere('switched')) expect(one.status).toBe(expected);
    }
  });

  it('answers 204 to a DELETE, and then 404 to its traffic and its id', async () => {
    const { id } = await gateway.route({ name: 'deleted' });
    const answer = await gateway.admin.delete(`/v1/routes/${id}`);
    expect([answer.status, answer.body]).toEqual([204, '']);
    await gateway.settled();
    for (const one of await everywhere('deleted')) await expectRefusal(one, 404, 'route_not_found');
    await expectRefusal(await gateway.admin.get(`/v1/routes/${id}`), 404, 'route_not_found');
  });

  it('refuses with 409 to delete a service that a route names', async () => {
    const service = await gateway.service();
    const route = await gateway.route({ name: 'holds-it', service_id: service.id });
    const refused = await gateway.admin.delete(`/v1/services/${service.id}`);
    const { message } = await expectRefusal(refused, 409, 'service_in_use');
    expect(message).toContain('holds-it');
    await gateway.admin.delete(`/v1/routes/${route.id}`);
    const deleted = await gateway.admin.delete(`/v1/services/${service.id}`);
    expect(deleted.status).toBe(204);
  });

  it('refuses a change if If-Match names an older revision', async () => {
    const { id } = await gateway.route({ name: 'guarded' });
    const path = `/v1/routes/${id}`;
    const etag = (await gateway.admin.get(path)).headers.get('etag') ?? '';
    const guarded = (timeoutMs: number) =>
      gateway.admin.patch(path, { timeout_ms: timeoutMs }, { headers: { 'if-match': etag } });
    expect((await guarded(1111)).status).toBe(200);
    await expectRefusal(await guarded(2222), 412, 'precondition_failed');
    expect((await gateway.admin.get(path)).resource()['timeout_ms']).toBe(1111);
    const present = (await gateway.admin.get(path)).headers.get('etag') ?? '';
    const same = await gateway.admin.get(path, { headers: { 'if-none-match': present } });
    expect([same.status, same.body]).toEqual([304, '']);
  });

  it('appends the sub-path and its query to the url of the service', async () => {
    await gateway.route({ name: 'deep', upstreamPath: '/base' });
    await gateway.settled();
    const answer = await gateway.admin.proxy('deep/a/b%20c?d=e');
    expect(answer.json()).toMatchObject({ upstream: '/base/a/b%20c?d=e' });
  });

  it('returns no row of a list twice and skips none while rows are added and removed', async () => {
    const { tokenId, ...owner } = await gateway.tokenClient({ environments: ['development'] });
    expect(tokenId).toMatch(/^tok_/);
    const make = () => gateway.service({ environment: 'development' });
    const made: Resource[] = [];
    for (let count = 0; count < 7; count += 1) made.push(await make());
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page = (
        await owner.get(`/v1/services?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`)
      ).page();
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor;
      // Deletes the row at the cursor's position and adds another row.
      if (seen.length === 2) {
        await owner.delete(`/v1/services/${seen[1]}`);
        made.push(await make());
      }
    } while (cursor !== null);
    expect(seen).toEqual(made.map(({ id }) => id));
  });
});
