import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type Answer, type TestApi } from '../../../test/api.ts';

describe('the rewriting of a route', () => {
  let api: TestApi;
  let service = '';
  let names = 0;

  beforeAll(async () => {
    api = await startTestApi();
    const body = { name: 'pay', environment: 'production', url: 'http://pay.example' };
    service = (await api.call('POST', '/v1/services', { body })).json.data?.id ?? '';
  });
  afterAll(() => api.close());

  function create(fields: object) {
    const name = `r-${(names += 1)}`;
    return api.call('POST', '/v1/routes', { body: { name, service_id: service, ...fields } });
  }

  const detailsOf = ({ status, json }: Answer) => [status, json.error?.['details']];
  const wayTo = (prefix: string) => [{ paths: [{ prefix }] }];

  it('is shown with every field, and is null without one', async () => {
    const none = { set: [], add: [], remove: [] };
    const made = await create({
      match: wayTo('/rewritten'),
      rewrite: { strip_prefix: '/rewritten', response_headers: { remove: ['Server'] } },
    });
    expect(made.status).toBe(201);
    expect(made.json.data).toMatchObject({
      rewrite: {
        strip_prefix: '/rewritten',
        add_prefix: null,
        path: null,
        host: 'upstream',
        query: { set: [], remove: [] },
        request_headers: none,
        response_headers: { ...none, remove: ['Server'] },
      },
    });
    expect((await create({})).json.data).toMatchObject({ rewrite: null });
  });

  it('is refused with the field, the rule and the value', async () => {
    const value = '{jwt.claims.tenant}';
    const rewrite = {
      add_prefix: '/a/../b',
      host: 'a b',
      query: { set: [{ name: 'q', value: '{foo}' }] },
      request_headers: { set: [{ name: 'Authorization', value: 'Bearer x' }] },
    };
    expect(detailsOf(await create({ rewrite }))).toEqual([
      400,
      [
        ['rewrite.add_prefix', 'read as ..'],
        ['rewrite.host', 'must be upstream, preserve, or a host'],
        ['rewrite.query.set.0.value', 'must not have {foo}'],
        ['rewrite.request_headers.set.0.name', 'must not be Authorization'],
      ].map(([path, message = '']) => ({ path, message: expect.stringContaining(message) })),
    ]);
    const contradicting = { strip_prefix: '/x', query: { set: [{ name: 'q', value }] } };
    expect(detailsOf(await create({ rewrite: contradicting }))).toEqual([
      400,
      [
        ['rewrite.strip_prefix', 'match'],
        ['rewrite.query.set.0.value', 'auth.required_claims'],
      ].map(([path, message = '']) => ({ path, message: expect.stringContaining(message) })),
    ]);
  });

  it('is replaced as a whole by a change, and never contradicts what else is changed', async () => {
    const made = await create({
      match: wayTo('/changed'),
      rewrite: { strip_prefix: '/changed', host: 'preserve' },
    });
    const path = `/v1/routes/${made.json.data?.id ?? ''}`;
    const change = (body: object) => api.call('PATCH', path, { body });
    expect(detailsOf(await change({ match: wayTo('/other') }))).toEqual([
      400,
      [
        {
          path: 'rewrite.strip_prefix',
          message: 'must be a prefix of every path in `match`, and /changed is none of /other',
        },
      ],
    ]);
    expect(
      detailsOf(await change({ rewrite: { path: '/{token.id}' }, auth: { type: 'none' } })),
    ).toEqual([
      400,
      [{ path: 'rewrite.path', message: expect.stringContaining('auth.type none') }],
    ]);
    const both = await change({ match: wayTo('/other'), rewrite: { strip_prefix: '/other' } });
    expect(both.json.data).toMatchObject({ rewrite: { strip_prefix: '/other', host: 'upstream' } });
    expect((await change({ rewrite: null })).json.data).toMatchObject({ rewrite: null });
  });

  it('is exported without what is usual, and applied again without a change', async () => {
    const environments = '/v1/environments';
    await api.call('POST', environments, { body: { name: 'copied' } });
    const rewrite = { host: 'preserve', query: { remove: ['debug'] } };
    const document = {
      services: [{ name: 'pay', url: 'http://pay.example' }],
      routes: [
        { name: 'pay', service: 'pay', rewrite, locations: 'map' },
        { name: 'empty', service: 'pay', rewrite: {}, locations: 'map' },
      ],
    };
    const apply = (body: object) => api.call('POST', `${environments}/copied/apply`, { body });
    expect((await apply(document)).status).toBe(200);
    const exported = await api.call('GET', `${environments}/copied/export`);
    const { routes } = exported.json.data as unknown as { routes: readonly object[] };
    expect(routes).toEqual([
      { name: 'empty', service: 'pay', rewrite: {}, locations: 'map' },
      { name: 'pay', service: 'pay', rewrite, locations: 'map' },
    ]);
    const again = await apply({ ...document, routes, dry_run: true });
    expect(again.json.data).toMatchObject({ changes: [] });
    const wrong = {
      ...document,
      routes: [{ name: 'pay', service: 'pay', rewrite: { path: 'x' } }],
    };
    expect(detailsOf(await apply(wrong))).toEqual([
      400,
      [{ path: '/routes/0/rewrite/path', message: expect.stringContaining('must be a path') }],
    ]);
  });
});
