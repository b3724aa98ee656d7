import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { startTestApi, type TestApi } from '../../test/api.ts';

describe('a row with a value that only another release knows', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi();
  });

  afterAll(async () => {
    await api.close();
  });

  async function make(path: string, body: object): Promise<string> {
    const { status, json, text } = await api.call('POST', path, { body });
    if (status !== 201) throw new Error(text);
    return json.data?.id ?? '';
  }

  const service = (name: string) =>
    make('/v1/services', { name, environment: 'production', url: 'http://pay.example' });

  async function unreadableService() {
    const id = await service('newer');
    await sql`UPDATE services SET upstreams = jsonb_set(upstreams, '{0,weight}', '"automatic"') WHERE id = ${id}`.execute(
      api.db,
    );
    return { path: '/v1/services', other: await service('readable'), id, field: 'weight' };
  }

  async function unreadableRoute() {
    const service_id = await service('of-routes');
    const id = await make('/v1/routes', { name: 'newer', service_id });
    await sql`UPDATE routes SET auth = '{"type": "mutual_tls"}' WHERE id = ${id}`.execute(api.db);
    const other = await make('/v1/routes', { name: 'readable', service_id });
    return { path: '/v1/routes', other, id, field: 'auth' };
  }

  it.each([
    ['service', unreadableService],
    ['route', unreadableRoute],
  ])(
    'is left out of lists, named by GET and PATCH, and can be deleted: %s',
    async (kind, start) => {
      const { path, other, id, field } = await start();
      const list = await api.call('GET', path);
      expect(list.status).toBe(200);
      const ids = (JSON.parse(list.text) as { data: { id: string }[] }).data.map((one) => one.id);
      expect(ids).toContain(other);
      expect(ids).not.toContain(id);

      const writer = await api.makeToken({
        name: `writer of ${kind}`,
        environments: ['production'],
        scopes: [`${kind}s:write`],
      });
      const body = { name: 'renamed' };
      for (const [method, options] of [
        ['GET', {}],
        ['PATCH', { body }],
        ['PATCH', { body, token: writer }],
      ] as const) {
        const { status, json, text } = await api.call(method, `${path}/${id}`, options);
        expect([status, json.error?.['code']]).toEqual([501, 'resource_unreadable']);
        expect(json.error?.['message']).toMatch(
          new RegExp(`${kind} newer \\(${id}\\).*${field}.*delete the ${kind}`),
        );
        expect(text).not.toMatch(/automatic|mutual_tls/);
      }

      const exported = await api.call('GET', '/v1/environments/production/export');
      expect([exported.status, exported.text]).toEqual([200, expect.stringContaining('"newer"')]);
      const pruned = await api.call('POST', '/v1/environments/production/apply', {
        body: { dry_run: true, prune: true, services: [], routes: [] },
      });
      expect([pruned.status, pruned.text]).toEqual([200, expect.stringContaining(id)]);

      expect((await api.call('DELETE', `${path}/${id}`)).status).toBe(204);
      expect((await api.call('GET', `${path}/${id}`)).status).toBe(404);
      const audit = await api.call('GET', `/v1/audit-events?resource_id=${id}`);
      expect(JSON.parse(audit.text)).toMatchObject({
        data: [{ action: `${kind}.deleted`, before: { id, name: 'newer' } }, {}],
      });
    },
  );
});
