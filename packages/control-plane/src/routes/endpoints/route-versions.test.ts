import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type Answer, type TestApi } from '../../../test/api.ts';

const UNKNOWN = 'svc_00000000000000000000000000';

describe('a route with versions, in the API', () => {
  let api: TestApi;
  let one: string;
  let other: string;
  let elsewhere: string;

  beforeAll(async () => {
    api = await startTestApi();
    one = await makeService('one');
    other = await makeService('other');
    elsewhere = await makeService('elsewhere', 'development');
  });
  afterAll(() => api.close());

  async function makeService(name: string, environment = 'production'): Promise<string> {
    const body = { name, environment, url: 'http://pay.example' };
    return (await api.call('POST', '/v1/services', { body })).json.data?.id ?? '';
  }

  const create = (body: object) => api.call('POST', '/v1/routes', { body });
  const change = (made: Answer, body: object) =>
    api.call('PATCH', `/v1/routes/${made.json.data?.id ?? ''}`, { body });
  const split = (v1: number, v2: number) => [
    { name: 'v1', service_id: one, weight: v1 },
    { name: 'v2', service_id: other, weight: v2 },
  ];

  function expectDetails(answer: Answer, status: number, details: object[]): void {
    expect({ status: answer.status, details: answer.json.error?.['details'] }).toEqual({
      status,
      details,
    });
  }

  it('is created, read and listed with its versions, in the environment of their services', async () => {
    const made = await create({ name: 'split', versions: split(90, 10) });
    expect(made.status).toBe(201);
    expect(made.json.data).toMatchObject({
      environment: 'production',
      service_id: null,
      versions: split(90, 10),
    });
    const read = await api.call('GET', `/v1/routes/${made.json.data?.id ?? ''}`);
    expect(read.json.data).toEqual(made.json.data);
    for (const service of [one, other]) {
      const list = await api.call('GET', `/v1/routes?service_id=${service}&name=split`);
      expect(list.json.data).toEqual([made.json.data]);
    }
    const none = await api.call('GET', `/v1/routes?service_id=${elsewhere}&name=split`);
    expect(none.json.data).toEqual([]);
  });

  it('changes its weights, and becomes a route of one service and back', async () => {
    const made = await create({ name: 'changing', versions: split(100, 0) });
    const canary = await change(made, { versions: split(90, 10) });
    expect(canary.json.data).toMatchObject({ versions: split(90, 10), revision: 2 });
    const same = await change(made, { versions: split(90, 10), service_id: null });
    expect(same.json.data).toMatchObject({ revision: 2 });
    const plain = await change(made, { service_id: other });
    expect(plain.json.data).toMatchObject({ service_id: other, versions: null, revision: 3 });
    const back = await change(made, { versions: split(1, 1), service_id: null });
    expect(back.json.data).toMatchObject({ service_id: null, versions: split(1, 1) });
  });

  it('does not change if its own view is sent back as a PATCH', async () => {
    const made = await create({ name: 'view', versions: split(1, 2), regions: ['eu'] });
    const kept = ['id', 'environment', 'revision', 'created_at', 'updated_at'];
    const fields = Object.entries(made.json.data ?? {}).filter(([name]) => !kept.includes(name));
    const again = await change(made, Object.fromEntries(fields));
    expect(again.json.data).toEqual(made.json.data);
  });

  it('has a service or versions after every change', async () => {
    const made = await create({ name: 'somewhere', versions: split(1, 1) });
    const plain = await create({ name: 'plain', service_id: one });
    const required = [{ path: 'service_id', message: 'is required' }];
    expectDetails(await change(made, { versions: null }), 400, required);
    expectDetails(await change(plain, { service_id: null }), 400, required);
    expect((await change(made, { service_id: null })).status).toBe(200);
    expect((await change(plain, { versions: null })).status).toBe(200);
  });

  it('is refused with the path of a version whose service does not exist or is in another environment', async () => {
    const versions = (id: string) => [split(1, 1)[0], { name: 'v2', service_id: id, weight: 1 }];
    const path = 'versions.1.service_id';
    for (const id of [UNKNOWN, 'nonsense', 'a\u0000b']) {
      const refused = await create({ name: 'lost', versions: versions(id) });
      expectDetails(refused, 400, [{ path, message: 'must be the id of a service' }]);
    }
    const mixed = await create({ name: 'lost', versions: versions(elsewhere) });
    const message = 'must be the id of a service in the environment production';
    expectDetails(mixed, 400, [{ path, message }]);
    expect(mixed.json.error).toMatchObject({ code: 'invalid_request' });

    const made = await create({ name: 'staying', versions: split(1, 1) });
    const moved = [{ name: 'v1', service_id: elsewhere, weight: 1 }];
    expectDetails(await change(made, { versions: moved }), 400, [
      { path: 'versions', message: 'must be in the environment of the route' },
    ]);
  });

  it('cannot name a service that the token does not cover', async () => {
    const token = await api.makeToken({
      name: 'narrow',
      environments: ['production'],
      scopes: ['routes:write'],
    });
    const versions = [split(1, 1)[0], { name: 'v2', service_id: elsewhere, weight: 1 }];
    const answer = await api.call('POST', '/v1/routes', { token, body: { name: 'x', versions } });
    expect(answer.status).toBe(401);
  });

  it('prevents the deletion of its services, also of one with weight 0', async () => {
    const first = await makeService('first');
    const second = await makeService('second');
    const made = await create({
      name: 'holding',
      versions: [
        { name: 'v1', service_id: first, weight: 1 },
        { name: 'v2', service_id: second, weight: 0 },
        { name: 'v3', service_id: second, weight: 0 },
      ],
    });
    const remove = (id: string) => api.call('DELETE', `/v1/services/${id}`);
    for (const id of [first, second]) {
      const refused = await remove(id);
      expect(refused.status).toBe(409);
      expect(refused.json.error).toMatchObject({
        code: 'service_in_use',
        message: 'These routes name the service: holding.',
      });
    }
    await change(made, { service_id: second });
    expect((await remove(first)).status).toBe(204);
    await api.call('DELETE', `/v1/routes/${made.json.data?.id ?? ''}`);
    expect((await remove(second)).status).toBe(204);
  });

  it('never names a service that is deleted at the same time', async () => {
    for (let round = 0; round < 20; round += 1) {
      const doomed = await makeService(`doomed-${round}`);
      const versions = [...split(1, 0), { name: 'v3', service_id: doomed, weight: 1 }];
      const made = await create({ name: `before-${round}`, service_id: one });
      const [created, changed, deleted] = await Promise.all([
        create({ name: `raced-${round}`, versions }),
        change(made, { versions }),
        api.call('DELETE', `/v1/services/${doomed}`),
      ]);
      const named = [created.status === 201, changed.status === 200];
      expect(deleted.status).toBe(named.includes(true) ? 409 : 204);
      for (const answer of [created, changed].filter(({ status }) => status >= 400)) {
        expect(answer.json.error).toMatchObject({
          code: 'invalid_request',
          details: [{ path: expect.stringMatching(/^versions/) }],
        });
      }
    }
  });

  it('is bound to its services by constraints of the database', async () => {
    const made = await create({ name: 'guarded', versions: split(1, 1) });
    const write = (fields: object) =>
      api.db
        .updateTable('routes')
        .set(fields)
        .where('id', '=', made.json.data?.id ?? '')
        .execute();
    const gone = JSON.stringify([{ name: 'v1', service_id: UNKNOWN, weight: 1 }]);
    await expect(write({ versions: gone })).rejects.toThrow('route_services_service_fkey');
    const moved = { environment: 'development' };
    await expect(write(moved)).rejects.toThrow('route_services_service_fkey');
    await expect(write({ service_id: one })).rejects.toThrow('routes_one_target');
    await expect(write({ versions: null })).rejects.toThrow('routes_one_target');
    const removal = api.db.deleteFrom('services').where('id', '=', one).execute();
    await expect(removal).rejects.toThrow('fkey');
  });
});
