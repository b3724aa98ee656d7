import { expectError } from '../../../test/expect-error.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { addAuditEvent, auditEvents, createFrom, type AuditEvent } from '../../../test/audit.ts';

const PROXY = { trustedProxies: ['127.0.0.1/32'] };
const make = (api: TestApi, path: string, body: object) =>
  createFrom(api, '203.0.113.9', path, body);

const service = { name: 'pay', environment: 'production', url: 'http://pay.example' };

describe('GET /v1/audit-events', () => {
  let api: TestApi;
  const ids: Record<string, string> = {};
  const names = (events: readonly AuditEvent[]) =>
    events.map(({ action, resource_id }) => {
      const [name] = Object.entries(ids).find(([, id]) => id === resource_id) ?? [resource_id];
      return `${String(action)} ${String(name)}`;
    });

  beforeAll(async () => {
    api = await startTestApi(PROXY);
    const add = async (name: string, path: string, body: object) => {
      api.clock.advance(1000);
      ids[name] = (await make(api, path, body)).id;
    };
    const reach = { environments: ['*'], routes: ['*'], scopes: ['*'] };
    await add('pay', '/v1/services', service);
    await add('dev', '/v1/services', { ...service, environment: 'development' });
    await add('orders', '/v1/routes', { name: 'orders', service_id: ids['pay'] });
    await add('refunds', '/v1/routes', { name: 'refunds', service_id: ids['pay'] });
    await add('everywhere', '/v1/tokens', { name: 'everywhere', ...reach });
    await add('narrow', '/v1/tokens', {
      name: 'narrow',
      environments: ['production'],
      routes: ['orders'],
      scopes: ['proxy'],
    });
    const path = `/v1/routes/${ids['refunds'] ?? ''}`;
    api.clock.advance(1000);
    await api.call('PATCH', path, { body: { name: 'returns' } });
  });
  afterAll(() => api.close());

  it.each([
    ['resource_type=service', ['service.created dev', 'service.created pay']],
    ['resource_type=route&action=route.updated', ['route.updated refunds']],
    ['environment=development', ['token.created everywhere', 'service.created dev']],
    ['since=2030-01-01T00:00:06Z', ['route.updated refunds', 'token.created narrow']],
    ['until=2030-01-01T00:00:02Z&resource_type=service', ['service.created pay']],
    ['resource_id=svc_nothing', []],
    ['token_id=tok_nobody', []],
  ])('filters by %s', async (query, expected) => {
    const events = await auditEvents(api, `&${query}`);
    expect(names(events.filter((event) => event['token_id'] !== null))).toEqual(expected);
  });

  it('filters by resource and by the token of the change', async () => {
    const refunds = ids['refunds'] ?? '';
    const of = await auditEvents(api, `&resource_id=${refunds}`);
    expect(names(of)).toEqual(['route.updated refunds', 'route.created refunds']);
    const both = await auditEvents(api, `&resource_ids=${refunds},${ids['pay']},nothing`);
    expect(names(both)).toEqual([
      'route.updated refunds',
      'route.created refunds',
      'service.created pay',
    ]);
    const action = `&resource_ids=${refunds},${ids['pay']}&action=service.created`;
    expect(names(await auditEvents(api, action))).toEqual(['service.created pay']);
    expect(await auditEvents(api, '&resource_ids=')).toEqual([]);
    const adminId = String(of[0]?.['token_id']);
    expect(await auditEvents(api, `&token_id=${adminId}`)).toHaveLength(7);
  });

  it('takes at most 200 ids', async () => {
    const many = Array.from({ length: 201 }, (_, at) => `tok_${String(at).padStart(26, '0')}`);
    const list = (some: readonly string[]) =>
      api.call('GET', `/v1/audit-events?resource_ids=${some.join(',')}`);
    expect((await list(many.slice(1))).status).toBe(200);
    const refused = await list(many);
    expectError(refused, 400, 'invalid_request');
    expect(refused.json.error?.['details']).toEqual([
      { path: 'resource_ids', message: 'must be at most 200 ids' },
    ]);
    const long = await list(Array.from({ length: 101 }, (_, at) => `${at}-`.padEnd(63, 'e')));
    expectError(long, 400, 'invalid_request');
    expect(long.json.error?.['details']).toEqual([
      { path: 'resource_ids', message: 'must be at most 200 ids, of 6400 characters in all' },
    ]);
  });

  it('shows a token only changes of resources that it covers before and after the change', async () => {
    const seenBy = async (reach: object) => {
      const body = { name: 'auditor', environments: ['*'], scopes: ['config:write'], ...reach };
      const made = await make(api, '/v1/tokens', body);
      const token = made.json.data?.secret ?? '';
      const seen = names(await auditEvents(api, '', { token }));
      await api.call('DELETE', `/v1/tokens/${made.id}`);
      return seen.filter((one) => Object.keys(ids).some((name) => one.endsWith(name)));
    };
    expect(await seenBy({ environments: ['development'] })).toEqual(['service.created dev']);
    expect(await seenBy({ environments: ['production'], routes: ['orders'] })).toEqual([
      'token.created narrow',
      'route.created orders',
      'service.created pay',
    ]);
    // The token does not cover the new name of the route, and so not the change to that name.
    expect(await seenBy({ routes: ['refunds'] })).toEqual([
      'route.created refunds',
      'service.created dev',
      'service.created pay',
    ]);
    expect(await seenBy({})).toHaveLength(7);
  });

  it('has pages, newest first, without a gap or a repetition while changes are made', async () => {
    const whole = (await auditEvents(api)).map((event) => event.id);
    expect(whole).toEqual(whole.toSorted().reverse());
    const seen: string[] = [];
    let query = '?limit=2';
    for (;;) {
      const { json } = await api.call('GET', `/v1/audit-events${query}`);
      seen.push(...(json.data ?? []).map((event) => event.id));
      if (typeof json.next_cursor !== 'string') break;
      query = `?limit=2&cursor=${json.next_cursor}`;
      api.clock.advance(1000);
      await make(api, '/v1/services', { ...service, name: `more ${seen.length}` });
    }
    expect(seen).toEqual(whole);
  });

  it.each([
    ['resource_type=users', 'resource_type'],
    ['action=service.stolen', 'action'],
    ['since=yesterday', 'since'],
    ['since=2030-01-02T00:00:00Z&until=2030-01-01T00:00:00Z', 'since'],
    ['environment=Prod', 'environment'],
    ['token_id=%00', 'token_id'],
    ['actor=me', 'actor'],
    ['cursor=x', 'cursor'],
    ['limit=201', 'limit'],
  ])('refuses %s and names the parameter', async (query, path) => {
    const { status, json } = await api.call('GET', `/v1/audit-events?${query}`);
    expect(status).toBe(400);
    expect(json.error?.['details']).toMatchObject([{ path }]);
  });

  it('ends a page of large changes before it is too large, and continues with the cursor', async () => {
    // The maximum size of a service's certificates, before and after the change.
    const certificates = 'c'.repeat(600_000);
    for (let n = 1; n <= 20; n += 1) {
      api.clock.advance(1);
      await addAuditEvent(api.db, api.clock.nowMs(), {
        action: 'service.updated',
        resourceId: 'svc_large',
        environments: ['production'],
        before: { n, certificates },
      });
    }
    const pages: number[] = [];
    const seen: unknown[] = [];
    for (let cursor = ''; ;) {
      const query = `limit=200&resource_id=svc_large${cursor}`;
      const { json, text } = await api.call('GET', `/v1/audit-events?${query}`);
      expect(text.length).toBeLessThan(6 * 1024 * 1024);
      const events = json.data as unknown as { before: { n: number } }[];
      pages.push(events.length);
      seen.push(...events.map(({ before }) => before.n));
      if (typeof json.next_cursor !== 'string') break;
      cursor = `&cursor=${json.next_cursor}`;
    }
    expect(seen).toEqual(Array.from({ length: 20 }, (_, index) => 20 - index));
    expect(pages).toEqual([7, 7, 6]);
  });

  it('shows a change for 400 days, and no longer', async () => {
    const made = await make(api, '/v1/services', { ...service, name: 'old' });
    const ofIt = async () => (await auditEvents(api, `&resource_id=${made.id}`)).length;
    api.clock.advance(400 * 24 * 60 * 60 * 1000 - 1);
    expect(await ofIt()).toBe(1);
    api.clock.advance(1);
    expect(await ofIt()).toBe(0);
  });
});
