import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type Answer, type TestApi } from '../../../test/api.ts';
import { newAppliedEnvironment } from '../../../test/applied-environment.ts';

const UNKNOWN = 'svc_00000000000000000000000000';

describe('the mirror of a route, in the API', () => {
  let api: TestApi;
  let one: string;
  let other: string;
  let shadow: string;
  let elsewhere: string;

  beforeAll(async () => {
    api = await startTestApi();
    one = await makeService('one');
    other = await makeService('other');
    shadow = await makeService('shadow');
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
  const put = (name: string, body: object) =>
    api.call('PUT', `/v1/routes/${name}?environment=production`, { body });

  function expectFault(answer: Answer, path: string, message: string): void {
    expect({ status: answer.status, details: answer.json.error?.['details'] }).toEqual({
      status: 400,
      details: [{ path, message }],
    });
  }

  it('has defaults, is replaced as a whole, and is removed with null', async () => {
    const plain = await create({ name: 'plain', service_id: one });
    expect(plain.json.data).toMatchObject({ mirror: null });
    const made = await change(plain, { mirror: { service_id: shadow, percent: 0.5 } });
    const whole = {
      service_id: shadow,
      percent: 0.5,
      max_body_bytes: 65_536,
      pass_credentials: false,
    };
    expect(made.json.data).toMatchObject({ mirror: whole, revision: 2 });
    const same = await change(plain, { mirror: whole, timeout_ms: 10_000 });
    expect(same.json.data).toMatchObject({ revision: 2 });
    const replaced = await change(plain, { mirror: { service_id: other } });
    expect(replaced.json.data?.['mirror']).toEqual({ ...whole, service_id: other, percent: 100 });
    const list = await api.call('GET', `/v1/routes?service_id=${other}`);
    expect(list.json.data).toEqual([replaced.json.data]);
    expect((await change(plain, { mirror: null })).json.data).toMatchObject({ mirror: null });
  });

  it.each([
    [{ percent: -1 }, 'percent', 'must be a number from 0 to 100'],
    [{ percent: 100.1 }, 'percent', 'must be a number from 0 to 100'],
    [{ percent: '5' }, 'percent', 'must be a number from 0 to 100'],
    [{ max_body_bytes: 10_485_761 }, 'max_body_bytes', 'must be a whole number from 0 to 10485760'],
    [{ pass_credentials: 1 }, 'pass_credentials', 'must be true or false'],
  ])('is refused with %j', async (fields, name, message) => {
    const mirror = { service_id: shadow, ...fields };
    const refused = await create({ name: 'refused', service_id: one, mirror });
    expectFault(refused, `mirror.${name}`, message);
  });

  it('must be another service than those of the route', async () => {
    const message = 'must not be a service of the route';
    const path = 'mirror.service_id';
    const itself = { service_id: one, mirror: { service_id: one } };
    expectFault(await create({ name: 'itself', ...itself }), path, message);
    expectFault(await put('itself', itself), path, message);
    const made = await create({ name: 'itself', service_id: one, mirror: { service_id: shadow } });
    expectFault(await change(made, { mirror: { service_id: one } }), path, message);
    expectFault(await change(made, { service_id: shadow }), path, message);
    const versions = [
      { name: 'v1', service_id: one, weight: 1 },
      { name: 'v2', service_id: shadow, weight: 0 },
    ];
    expectFault(await change(made, { versions }), path, message);
    const both = await change(made, { service_id: shadow, mirror: { service_id: one } });
    expect(both.json.data).toMatchObject({ service_id: shadow, mirror: { service_id: one } });
  });

  it('is nothing for a route that answers itself', async () => {
    const message = 'must be null on a route that answers itself';
    const answer = { environment: 'production', respond: { status: 200 } };
    const mirror = { service_id: elsewhere };
    expectFault(await create({ name: 'fixed', ...answer, mirror }), 'mirror', message);
    const made = await create({
      name: 'fixed',
      service_id: one,
      mirror: { service_id: shadow },
    });
    expectFault(await change(made, { respond: { status: 200 } }), 'mirror', message);
    const both = await change(made, { respond: { status: 200 }, mirror: null });
    expect(both.json.data).toMatchObject({ service_id: null, mirror: null });
  });

  it('is a service that exists, of the environment of the route', async () => {
    const path = 'mirror.service_id';
    const made = await create({ name: 'staying', service_id: one });
    for (const id of [UNKNOWN, 'nonsense', 'a\u0000b']) {
      const message = 'must be the id of a service';
      const mirror = { service_id: id };
      expectFault(await create({ name: 'lost', service_id: one, mirror }), path, message);
      expectFault(await put('lost', { service_id: one, mirror }), path, message);
      expectFault(await change(made, { mirror }), path, message);
    }
    const mirror = { service_id: elsewhere };
    const message = 'must be the id of a service in the environment production';
    expectFault(await create({ name: 'lost', service_id: one, mirror }), path, message);
    const moved = 'must be in the environment of the route';
    expectFault(await change(made, { mirror }), path, moved);
  });

  it('cannot name a service that the token does not cover', async () => {
    const token = await api.makeToken({
      name: 'narrow',
      environments: ['production'],
      scopes: ['routes:write'],
    });
    const body = { name: 'x', service_id: one, mirror: { service_id: elsewhere } };
    expect((await api.call('POST', '/v1/routes', { token, body })).status).toBe(401);
  });

  it('prevents the deletion of its service', async () => {
    const doomed = await makeService('doomed');
    const made = await create({ name: 'holding', service_id: one, mirror: { service_id: doomed } });
    const remove = () => api.call('DELETE', `/v1/services/${doomed}`);
    const refused = await remove();
    expect(refused.status).toBe(409);
    expect(refused.json.error).toMatchObject({
      code: 'service_in_use',
      message: 'These routes name the service: holding.',
    });
    await change(made, { mirror: null });
    expect((await remove()).status).toBe(204);
  });

  it('never names a service that is deleted at the same time', async () => {
    for (let round = 0; round < 10; round += 1) {
      const doomed = await makeService(`doomed-${round}`);
      const made = await create({ name: `before-${round}`, service_id: one });
      const [changed, deleted] = await Promise.all([
        change(made, { mirror: { service_id: doomed } }),
        api.call('DELETE', `/v1/services/${doomed}`),
      ]);
      expect([changed.status, deleted.status]).toEqual(
        deleted.status === 204 ? [400, 204] : [200, 409],
      );
      if (changed.status === 400) {
        expectFault(changed, 'mirror.service_id', 'must be the id of a service');
      }
    }
  });

  it('is named by its service in a document, whatever that is called later', async () => {
    const { name, apply, dump } = await newAppliedEnvironment(api);
    const services = ['now', 'next'].map((one) => ({ name: one, url: 'http://pay.example' }));
    const mirror = { service: 'next', percent: 12.5 };
    const document = { services, routes: [{ name: 'charges', service: 'now', mirror }] };
    expect((await apply(document)).json.data).toMatchObject({ changed: true });
    const again = await apply(document);
    expect(again.json.data).toMatchObject({ changed: false });
    expect(await dump()).toMatchObject({ routes: document.routes });

    const list = await api.call('GET', `/v1/services?environment=${name}&name=next`);
    const id = list.json.data?.[0]?.['id'] as string;
    await api.call('PATCH', `/v1/services/${id}`, { body: { name: 'shadow' } });
    expect(await dump()).toMatchObject({ routes: [{ mirror: { service: 'shadow' } }] });

    const itself = { service: 'now', mirror: { service: 'now' } };
    const refused = await apply({ routes: [{ name: 'charges', ...itself }] });
    expectFault(
      refused,
      '/routes/0/mirror/service',
      'route charges: must not be a service of the route',
    );
    const lost = await apply({ routes: [{ name: 'charges', service: 'now', mirror }] });
    expectFault(
      lost,
      '/routes/0/mirror/service',
      `route charges: must be the name of a service in the document or in the environment ${name}`,
    );
    const pruned = await apply({ services: services.slice(0, 1), prune: true });
    expect(pruned.json.error).toMatchObject({ code: 'service_in_use' });
  });
});
