import { expectRefusal } from '@gateway/shared/test/refusal';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client } from '../harness/client.ts';
import { borrowGateway, type BorrowedGateway } from '../harness/borrowed-gateway.ts';

const startTimeoutMs = 60_000;
const header = 'x-gateway-environment';

describe('environments, end to end', () => {
  let gateway: BorrowedGateway;
  /** The environment whose upstream responds to this client. */
  const reached = async (client: Client, environment?: string): Promise<unknown> => {
    const headers = environment === undefined ? {} : { [header]: environment };
    const answer = await client.proxy('orders', { headers });
    return answer.status === 200
      ? (answer.json() as { upstream: unknown }).upstream
      : answer.headers.get('x-gateway-error');
  };

  beforeAll(async () => {
    gateway = await borrowGateway();
    await gateway.admin.create('/v1/environments', { name: 'staging' });
    for (const environment of ['production', 'development', 'staging']) {
      await gateway.route({ name: 'orders', environment, upstreamPath: `/${environment}` });
    }
    for (const environment of ['production', 'development', 'staging']) {
      await gateway.settled(environment);
    }
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  it('uses the only environment of a token', async () => {
    const developer = await gateway.tokenClient({ environments: ['development'] });
    await gateway.settled('development');
    expect(await reached(developer)).toBe('/development');
    expect(await reached(developer, 'development')).toBe('/development');
  });

  it('uses the environment in X-Gateway-Environment if the token covers several', async () => {
    const both = await gateway.tokenClient({ environments: ['production', 'staging'] });
    await gateway.settled('staging');
    await gateway.settled();
    expect(await reached(both, 'staging')).toBe('/staging');
    expect(await reached(both, 'production')).toBe('/production');
    expect(await reached(gateway.admin, 'development')).toBe('/development');
  });

  it('uses the default environment if the caller names none and the token covers it', async () => {
    const both = await gateway.tokenClient({ environments: ['production', 'staging'] });
    await gateway.settled();
    expect(await reached(both)).toBe('/production');
    expect(await reached(gateway.admin)).toBe('/production');
  });

  it('refuses an environment that the token does not cover, named or by default', async () => {
    const developer = await gateway.tokenClient({ environments: ['development', 'staging'] });
    const single = await gateway.tokenClient({ environments: ['development'] });
    await gateway.settled('development');
    expect(await reached(developer)).toBe('authentication_failed');
    expect(await reached(developer, 'production')).toBe('authentication_failed');
    expect(await reached(single, 'production')).toBe('authentication_failed');
  });

  it('creates a service in the only environment of the token', async () => {
    const developer = await gateway.tokenClient({ environments: ['development'] });
    const body = { name: 'left-out', url: gateway.upstream.url };
    const made = await developer.post('/v1/services', body);
    expect(made.resource()['environment']).toBe('development');
    const refused = await gateway.admin.post('/v1/services', body);
    const { details } = await expectRefusal(refused, 400, 'invalid_request');
    expect(details?.[0]?.path).toBe('environment');
  });

  it('omits resources that a token does not cover from lists, and refuses to read or change them', async () => {
    const developer = await gateway.tokenClient({ environments: ['development'] });
    const service = await gateway.service();
    const route = await gateway.route({ service_id: service.id });
    const { data } = (await developer.get('/v1/routes?limit=200')).page();
    expect(data.map((one) => one['environment'])).toContain('development');
    expect(new Set(data.map((one) => one['environment'])).size).toBe(1);
    for (const path of [`/v1/services/${service.id}`, `/v1/routes/${route.id}`]) {
      await expectRefusal(await developer.get(path), 401, 'authentication_failed');
      await expectRefusal(await developer.patch(path, {}), 401, 'authentication_failed');
      await expectRefusal(await developer.delete(path), 401, 'authentication_failed');
    }
  });

  it('answers 404 for an unknown route only to an authenticated caller', async () => {
    await expectRefusal(await gateway.admin.proxy('unknown'), 404, 'route_not_found');
    const stranger = await gateway.admin.proxy('unknown', { token: null });
    await expectRefusal(stranger, 401, 'authentication_failed');
  });

  it('refuses an environment that does not exist', async () => {
    const body = { name: 'a', environment: 'nowhere', url: gateway.upstream.url };
    const refused = await gateway.admin.post('/v1/services', body);
    const { details } = await expectRefusal(refused, 400, 'invalid_request');
    expect(details).toMatchObject([{ path: 'environment' }]);
    const again = await gateway.admin.post('/v1/environments', { name: 'staging' });
    await expectRefusal(again, 409, 'name_conflict');
  });
});
