import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type Answer, type TestApi } from '../../../test/api.ts';
import { sql } from 'kysely';
import { tokenCalls } from '../../../test/tokens.ts';

describe('the hosts, paths and headers of routes', () => {
  let api: TestApi;
  const services: Record<string, string> = {};
  let names = 0;

  beforeAll(async () => {
    api = await startTestApi();
    await api.call('POST', '/v1/environments', { body: { name: 'applied' } });
    for (const environment of ['production', 'development']) {
      const body = { name: 'pay', environment, url: 'http://pay.example' };
      services[environment] =
        (await api.call('POST', '/v1/services', { body })).json.data?.id ?? '';
    }
  });
  afterAll(() => api.close());

  const { make } = tokenCalls(() => api);

  function create(match: unknown, environment = 'production', fields: object = {}) {
    const name = `r-${(names += 1)}`;
    return api.call('POST', '/v1/routes', {
      body: { name, service_id: services[environment], match, ...fields },
    });
  }

  const host = (...hosts: string[]) => [{ hosts }];
  const nameOf = (made: Answer) => (made.json.data as unknown as { name: string }).name;
  const conflictOf = ({ status, json }: Answer) => [
    status,
    json.error?.['code'],
    json.error?.['message'],
  ];

  it('are shown as they were given, with their defaults', async () => {
    const match = [
      { hosts: ['api.example.com', '*.example.com'] },
      { paths: [{ exact: '/a' }, { prefix: '/b%2Fc' }], headers: [{ name: 'X-V', value: '2' }] },
    ];
    const made = await create(match);
    expect(made.status).toBe(201);
    const whole = match.map((one) => ({ hosts: [], paths: [], headers: [], ...one }));
    expect(made.json.data).toMatchObject({ match: whole });
    const path = `/v1/routes/${made.json.data?.id ?? ''}`;
    const changed = await api.call('PATCH', path, { body: { match: [] } });
    expect(changed.json.data).toMatchObject({ match: [] });
  });

  it.each([
    ['a host in upper case', host('API.example.com'), 'match.0.hosts.0', 'must be a host name'],
    ['a host with a port', host('a.example:80'), 'match.0.hosts.0', 'must be a host name'],
    ['a star within', host('a.*.example'), 'match.0.hosts.0', 'must be a host name'],
    ['only a star', host('*'), 'match.0.hosts.0', 'must be a host name'],
    ['an empty item', [{}], 'match.0', 'must have hosts, paths or headers'],
    [
      'a path without slash',
      [{ paths: [{ exact: 'a' }] }],
      'match.0.paths.0.exact',
      'must be a path',
    ],
    ['a query', [{ paths: [{ exact: '/a?b' }] }], 'match.0.paths.0.exact', 'must be a path'],
    [
      'both kinds',
      [{ paths: [{ exact: '/a', prefix: '/a' }] }],
      'match.0.paths.0',
      'must have either',
    ],
    ['neither kind', [{ paths: [{}] }], 'match.0.paths.0', 'must have either'],
    [
      'a prefix that ends with a slash',
      [{ paths: [{ prefix: '/a/' }] }],
      'match.0.paths.0.prefix',
      'must not end with a slash',
    ],
    [
      'a path that is not normal',
      [{ paths: [{ prefix: '/a//%62' }] }],
      'match.0.paths.0.prefix',
      'must be written in its normal form, /a/b',
    ],
    [
      'dots',
      [{ paths: [{ exact: '/a/../b' }] }],
      'match.0.paths.0.exact',
      'must not have a segment ..',
    ],
    [
      'a path of the gateway',
      [{ paths: [{ prefix: '/v1/routes' }] }],
      'match.0.paths.0.prefix',
      'must not begin with /v1',
    ],
    [
      'the proxy path on a host',
      [{ hosts: ['a.example'], paths: [{ exact: '/v1/proxy' }] }],
      'match.0.paths.0.exact',
      'must not begin with /v1/proxy',
    ],
    [
      'a header that authenticates',
      [{ headers: [{ name: 'Authorization', value: 'x' }] }],
      'match.0.headers.0.name',
      'must not be a field that',
    ],
    [
      'a header twice',
      [
        {
          headers: [
            { name: 'X-A', value: '1' },
            { name: 'x-a', value: '2' },
          ],
        },
      ],
      'match.0.headers.1.name',
      'is the name of another header',
    ],
    [
      'the same item twice',
      [...host('a.example'), ...host('a.example')],
      'match.1',
      'must not repeat',
    ],
    [
      '17 items',
      Array.from({ length: 17 }, (_, n) => ({ hosts: [`h${n}.example`] })),
      'match',
      'must be a list',
    ],
  ])('refuses %s', async (_what, match, path, message) => {
    const { status, json } = await create(match);
    expect(status).toBe(400);
    expect(json.error?.['details']).toEqual([
      { path, message: expect.stringContaining(message) as unknown },
    ]);
  });

  it('are those of one route alone; the error names the other one', async () => {
    const first = await create([{ hosts: ['one.test'], paths: [{ prefix: '/a' }] }]);
    expect(first.status).toBe(201);
    const second = await create([
      { hosts: ['two.test'] },
      { hosts: ['one.test'], paths: [{ prefix: '/a' }] },
    ]);
    expect(conflictOf(second)).toEqual([
      409,
      'match_conflict',
      `The route r-${names} and the route ${nameOf(first)} in production both match paths from /a on one.test with the same header fields.`,
    ]);
    expect(second.json.error?.['details']).toEqual([
      { path: 'match.1', message: 'is a match of another route too' },
    ]);
    for (const other of [
      [{ hosts: ['one.test'], paths: [{ exact: '/a' }] }],
      [{ hosts: ['one.test'], paths: [{ prefix: '/a' }], headers: [{ name: 'a', value: '1' }] }],
      [{ hosts: ['*.test'], paths: [{ prefix: '/a' }] }],
    ]) {
      expect((await create(other)).status).toBe(201);
    }
    // In another environment without a host it is another request.
    expect((await create([{ paths: [{ prefix: '/both' }] }])).status).toBe(201);
    expect((await create([{ paths: [{ prefix: '/both' }] }], 'development')).status).toBe(201);
    expect((await create([{ paths: [{ prefix: '/both' }] }])).status).toBe(409);
  });

  it.each([
    ['own-1.zone', 'own-1.zone', 409],
    ['*.own-2.zone', 'a.own-2.zone', 409],
    ['a.own-3.zone', '*.own-3.zone', 409],
    ['a.b.own-4.zone', '*.own-4.zone', 409],
    ['*.own-5.zone', '*.a.own-5.zone', 409],
    ['*.a.own-6.zone', '*.own-6.zone', 409],
    ['own-7.zone', '*.own-7.zone', 201],
    ['a.own-8.zone', '*.wn-8.zone', 201],
    ['*.a-own-9.zone', '*.own-9.zone', 201],
  ])(
    'belong to one environment: after %s, %s in another one is %i',
    async (mine, theirs, status) => {
      expect((await create(host(mine))).status).toBe(201);
      const other = await create(host(theirs), 'development');
      expect(other.status).toBe(status);
      // Within one environment they may overlap.
      const body = { match: [{ hosts: [theirs], paths: [{ exact: '/x' }] }] };
      if (status === 409) expect((await create(body.match)).status).toBe(201);
    },
  );

  it('names no route that the token of the call does not cover', async () => {
    expect((await create(host('secret.test'))).status).toBe(201);
    const { secret } = await make({
      name: 'of development',
      environments: ['development'],
      routes: ['*'],
      scopes: ['routes:write', 'services:read'],
    });
    const body = { name: 'guess', service_id: services['development'], match: host('secret.test') };
    const refused = await api.call('POST', '/v1/routes', { token: secret, body });
    expect(conflictOf(refused)).toEqual([
      409,
      'match_conflict',
      'The host secret.test of the route guess overlaps with one of a route that the token does not cover: a host belongs to one environment.',
    ]);
  });

  it('can be exchanged by an apply, which is refused as a whole if two routes get the same', async () => {
    const apply = (a: string, b: string, dry_run = false) =>
      api.call('POST', '/v1/environments/applied/apply', {
        body: {
          services: [{ name: 'pay', url: 'http://pay.example' }],
          routes: [
            { name: 'x-a', service: 'pay', match: host(a) },
            { name: 'x-b', service: 'pay', match: host(b) },
          ],
          dry_run,
        },
      });
    expect((await apply('ex-1.zone', 'ex-2.zone')).status).toBe(200);
    expect((await apply('ex-2.zone', 'ex-1.zone')).status).toBe(200);
    for (const dry of [true, false]) {
      expect(conflictOf(await apply('ex-1.zone', 'ex-1.zone', dry))[1]).toBe('match_conflict');
    }
  });

  it('are taken by one of two changes at the same time', async () => {
    const match = [{ hosts: ['race.test'], paths: [{ exact: '/r' }] }];
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(match)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([
      201,
      ...Array.from({ length: 7 }, () => 409),
    ]);
  });

  it('look at 16 sets of header names at most for one host and path', async () => {
    const named = (names: readonly string[], value = '1', path = '/sets') => [
      {
        hosts: ['sets.test'],
        paths: [{ prefix: path }],
        headers: names.map((name) => ({ name, value })),
      },
    ];
    const made: Answer[] = [];
    for (let set = 0; set < 16; set += 1) made.push(await create(named([`X-${set}`, 'X-All'])));
    expect(made.map(({ status }) => status)).toEqual(made.map(() => 201));
    const refused = await create(named(['X-B', 'X-A']));
    expect(conflictOf(refused)).toEqual([
      409,
      'match_conflict',
      `The route r-${names} cannot match paths from /sets on sets.test by the header fields x-a, x-b: routes look at 16 different sets of header fields there, the most that are possible.`,
    ]);
    expect(refused.json.error?.['details']).toEqual([
      { path: 'match.0', message: expect.stringContaining('one more set of header fields') },
    ]);
    // Other values, no headers, and another path are no further set there.
    expect((await create(named(['x-all', 'x-3'], '2'))).status).toBe(201);
    expect((await create(named([]))).status).toBe(201);
    expect((await create(named(['X-A'], '1', '/sets/a'))).status).toBe(201);
    const path = `/v1/routes/${made[0]?.json.data?.id ?? ''}`;
    const patch = (body: object) => api.call('PATCH', path, { body });
    // It takes the place of its own set.
    expect((await patch({ match: named(['X-A', 'X-B']) })).status).toBe(200);
    expect((await create(named(['X-0', 'X-All']))).status).toBe(409);
    expect((await patch({ match: [] })).status).toBe(200);
    expect((await create(named(['X-0', 'X-All']))).status).toBe(201);
  });

  it('keep their sets of header names where there are more, such as of a release before', async () => {
    const many = Array.from({ length: 20 }, (_none, at) => ({
      name: `many-${at}`,
      service: 'pay',
      match: [{ hosts: ['many.test'], headers: [{ name: `X-${at}`, value: '1' }] }],
    }));
    const applied = await api.call('POST', '/v1/environments/applied/apply', {
      body: { services: [{ name: 'pay', url: 'http://pay.example' }], routes: many },
    });
    expect(conflictOf(applied).slice(0, 2)).toEqual([409, 'match_conflict']);
    const made = await create([{ hosts: ['many.test'], headers: [{ name: 'X-0', value: '1' }] }]);
    const id = made.json.data?.id ?? '';
    await sql`
      INSERT INTO route_matches (route_id, environment, host, is_exact, path, headers)
      SELECT ${id}, 'production', 'many.test', false, '/', jsonb_build_object('y-' || at, '1')
      FROM generate_series(1, 20) AS at
    `.execute(api.db);
    const other = await create([{ hosts: ['many.test'], headers: [{ name: 'Y-7', value: '2' }] }]);
    expect(other.status).toBe(201);
    const path = `/v1/routes/${other.json.data?.id ?? ''}`;
    expect((await api.call('PATCH', path, { body: { timeout_ms: 7 } })).status).toBe(200);
    const further = [{ hosts: ['many.test'], headers: [{ name: 'Z', value: '1' }] }];
    expect((await create(further)).status).toBe(409);
  });

  it('can be taken back once no other route has them', async () => {
    const made = await create(host('back.test'));
    const path = `/v1/routes/${made.json.data?.id ?? ''}`;
    expect((await api.call('PATCH', path, { body: { match: [] } })).status).toBe(200);
    const other = await create(host('back.test'));
    expect(other.status).toBe(201);
    expect((await api.call('PATCH', path, { body: { match: host('back.test') } })).status).toBe(
      409,
    );
    expect((await api.call('DELETE', `/v1/routes/${other.json.data?.id ?? ''}`)).status).toBe(204);
    expect((await api.call('PATCH', path, { body: { match: host('back.test') } })).status).toBe(
      200,
    );
  });
});
