import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { borrowGateway, type BorrowedGateway } from '../harness/borrowed-gateway.ts';

const startTimeoutMs = 60_000;
const wait = { headers: { prefer: 'wait=20' } };

describe('a rollback of the configuration', () => {
  let gateway: BorrowedGateway;
  beforeAll(async () => void (gateway = await borrowGateway()), startTimeoutMs);
  afterAll(() => gateway.close());

  const newest = async () => {
    const path = '/v1/config/versions?environment=production&limit=1';
    return Number((await gateway.admin.get(path)).page().data[0]?.['version']);
  };

  it('restores routes, services and credentials, and keeps revoked tokens revoked', async () => {
    const { admin, upstream } = gateway;
    const credential = { type: 'bearer', token: 'of-the-first-days' };
    const service = await gateway.service({ credential });
    const first = { name: 'kept', service_id: service.id, methods: ['POST'] };
    const kept = (await admin.post('/v1/routes', first)).resource();
    const revoked = await gateway.tokenClient();
    const known = await admin.patch(`/v1/services/${service.id}`, { health_path: '/then' }, wait);
    expect(known.headers.get('preference-applied')).toBe('wait=20');
    const version = await newest();

    await admin.delete(`/v1/tokens/${revoked.tokenId}`);
    await admin.delete(`/v1/routes/${kept.id}`);
    await admin.patch(`/v1/services/${service.id}`, { credential: null, health_path: '/now' });
    const last = { name: 'made-since', service_id: service.id };
    expect((await admin.post('/v1/routes', last, wait)).status).toBe(201);
    expect((await admin.proxy('kept')).status).toBe(404);
    expect((await admin.proxy('made-since')).status).toBe(200);
    const diff = `/v1/config/diff?environment=production&from=${version}&to=${await newest()}`;
    const differences = (await admin.get(diff))
      .page()
      .data.map((one) => [one['name'], one['change']]);
    expect(differences.sort()).toEqual([
      ['kept', 'removed'],
      ['made-since', 'added'],
      [service['name'], 'changed'],
    ]);

    const body = { environment: 'production', version };
    const back = await admin.post('/v1/config/rollback', body, wait);
    expect(back.headers.get('preference-applied')).toBe('wait=20');
    expect(back.resource()).toMatchObject({
      changed: true,
      restored_version: version,
      services: { created: 0, updated: 1, deleted: 0 },
      routes: { created: 1, updated: 0, deleted: 1 },
    });
    for (const { baseUrl } of gateway.dataPlanes) {
      const client = admin.at(baseUrl);
      expect((await client.proxy('kept')).status).toBe(200);
      expect((await client.proxy('made-since')).status).toBe(404);
      expect((await client.proxy('kept', { token: revoked.token })).status).toBe(401);
    }
    expect(upstream.seen.at(-1)?.headers['authorization']).toBe('Bearer of-the-first-days');
    expect(await newest()).toBeGreaterThan(version);
    const again = await admin.post('/v1/config/rollback', body, wait);
    expect(again.resource()).toMatchObject({ changed: false });
  });
});
