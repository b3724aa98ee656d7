import { expectRefusal } from '@gateway/shared/test/refusal';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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
});
