import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { routesOnReservedHosts } from '../../configuration/store/routes-on-reserved-hosts.ts';
import { startTestApi, type Answer, type TestApi } from '../../../test/api.ts';

const RESERVED = ['gateway.example.com', '*.ops.example.com'];

describe('the hosts of the gateway itself', () => {
  let api: TestApi;
  let names = 0;

  beforeAll(async () => {
    api = await startTestApi({ reservedHosts: RESERVED });
  });
  afterAll(() => api.close());

  const route = (...hosts: string[]) => ({ respond: {}, match: [{ hosts }] });
  const create = (body: object) =>
    api.call('POST', '/v1/routes', {
      body: { name: `r-${(names += 1)}`, environment: 'production', ...body },
    });
  const refusalOf = ({ status, json }: Answer) => [
    status,
    json.error?.['code'],
    json.error?.['details'],
  ];
  const refused = (path: string, host: string, reserved: string, resource = '') => [
    400,
    'invalid_request',
    [
      {
        path,
        message: `${resource}must not be ${host}: it overlaps with ${reserved}, a host of the gateway itself (RESERVED_HOSTS)`,
      },
    ],
  ];

  it.each([
    ['gateway.example.com', RESERVED[0]],
    ['*.example.com', RESERVED[0]],
    ['a.b.ops.example.com', RESERVED[1]],
  ])('are not those of a new route: %s', async (host, reserved = '') => {
    const body = { respond: {}, match: [{ hosts: ['free.test'] }, { hosts: ['b.test', host] }] };
    expect(refusalOf(await create(body))).toEqual(refused('match.1.hosts.1', host, reserved));
  });

  it('are not those of a changed, replaced or applied route, nor in a dry run', async () => {
    const [host = ''] = RESERVED;
    const made = await create(route('free.example.net'));
    expect(made.status).toBe(201);
    const body = { match: [{ hosts: [host] }] };
    const path = `/v1/routes/${made.json.data?.id ?? ''}`;
    expect(refusalOf(await api.call('PATCH', path, { body }))).toEqual(
      refused('match.0.hosts.0', host, host),
    );
    const put = await api.call('PUT', '/v1/routes/x?environment=production', { body: route(host) });
    expect(refusalOf(put)).toEqual(refused('match.0.hosts.0', host, host));
    for (const dry_run of [true, false]) {
      const document = { dry_run, routes: [{ name: 'x', ...route(host) }] };
      const applied = await api.call('POST', '/v1/environments/production/apply', {
        body: document,
      });
      expect(refusalOf(applied)).toEqual(
        refused('/routes/0/match/0/hosts/0', host, host, 'route x: '),
      );
    }
  });

  it('stay out of reach of a route that had them before they were reserved', async () => {
    const { json } = await create(route('late.test'));
    const id = json.data?.id ?? '';
    const set = (hosts: readonly string[]) =>
      sql`UPDATE routes SET match = ${JSON.stringify([{ hosts, paths: [], headers: [] }])} WHERE id = ${id}`.execute(
        api.db,
      );
    await set(['*.example.com', 'a.ops.example.com', 'late.test']);
    const name = `r-${names}`;
    const found = { route: name, environment: 'production' };
    expect(await routesOnReservedHosts(api.db, RESERVED)).toEqual([
      { ...found, host: '*.example.com' },
      { ...found, host: 'a.ops.example.com' },
    ]);
    const path = `/v1/routes/${id}`;
    // What is not changed is not refused, else nothing of the route could be changed.
    expect((await api.call('PATCH', path, { body: { timeout_ms: 7 } })).status).toBe(200);
    const reserved = await api.publish('production');
    expect((await api.call('PATCH', path, { body: { match: [] } })).status).toBe(200);
    expect(await routesOnReservedHosts(api.db, RESERVED)).toEqual([]);
    await api.publish('production');
    const rollBack = (version: number, dry_run: boolean) =>
      api.call('POST', '/v1/environments/production/rollback', { body: { version, dry_run } });
    for (const isDry of [true, false]) {
      const { status, json: answer } = await rollBack(reserved, isDry);
      expect([status, answer.error?.['code']]).toEqual([409, 'config_version_not_restorable']);
      expect(answer.error?.['message']).toContain(`route ${name}`);
      expect(answer.error?.['message']).toContain('*.example.com');
    }
  });
});
