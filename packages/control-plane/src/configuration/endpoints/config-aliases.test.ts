import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectError } from '../../../test/expect-error.ts';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { configCalls } from '../../../test/config-calls.ts';

describe('the paths under /v1/config', () => {
  let api: TestApi;
  const { service, change } = configCalls(() => api);
  let id: string;
  let from: number;
  let to: number;

  beforeAll(async () => {
    api = await startTestApi();
    id = await service('a');
    from = await api.publish('production');
    await change(`/v1/services/${id}`, { health_path: '/x' });
    to = await api.publish('production');
  });

  afterAll(() => api.close());

  const environment = '/v1/environments/production';
  const pairs = (): [string, string][] => [
    ['/v1/config/versions?environment=production&limit=1', `${environment}/versions?limit=1`],
    [`/v1/config/versions/${from}?environment=production`, `${environment}/versions/${from}`],
    [
      `/v1/config/diff?environment=production&from=${from}&to=${to}`,
      `${environment}/diff?from=${from}&to=${to}`,
    ],
  ];

  it('answer as the paths of the environment do, and say that they are deprecated', async () => {
    for (const [old, present] of pairs()) {
      const [before, after] = [await api.call('GET', old), await api.call('GET', present)];
      expect(before.status).toBe(200);
      expect({ ...before.json, request_id: '' }).toEqual({ ...after.json, request_id: '' });
      expect(before.headers.get('deprecation')).toMatch(/^@\d+$/);
      expect(after.headers.get('deprecation')).toBeNull();
    }
  });

  it('are marked as deprecated in the document, with what to use instead', async () => {
    const { text } = await api.call('GET', '/v1/openapi.json');
    const { paths } = JSON.parse(text) as {
      paths: Record<string, Record<string, { deprecated?: boolean; description: string }>>;
    };
    for (const [path, methods] of Object.entries(paths)) {
      for (const { deprecated, description } of Object.values(methods)) {
        expect(deprecated === true).toBe(path.startsWith('/v1/config/'));
        if (deprecated) expect(description).toContain('/v1/environments/{name}/');
      }
    }
  });

  it('roll back as the path of the environment does', async () => {
    const body = { environment: 'production', version: from };
    const old = await api.call('POST', '/v1/config/rollback', { body });
    expect(old.json.data).toMatchObject({ changed: true, restored_version: from });
    expect(old.headers.get('deprecation')).not.toBeNull();
    const present = await api.call('POST', `${environment}/rollback`, { body: { version: from } });
    expect(present.json.data).toMatchObject({ changed: false, restored_version: from });
  });

  it('name the resource of a difference resource_id, as audit events do, and id as before', async () => {
    const { json } = await api.call('GET', `${environment}/diff?from=${from}&to=${to}`);
    expect(json.data).toMatchObject([{ resource_type: 'service', resource_id: id, id }]);
  });

  it('answer 404 for an unknown environment in the path, and 400 in the body', async () => {
    const gone = '/v1/environments/nowhere';
    for (const path of [`${gone}/versions`, `${gone}/versions/1`, `${gone}/diff?from=1&to=1`]) {
      expectError(await api.call('GET', path), 404, 'environment_not_found');
    }
    const post = (path: string, body: object) => api.call('POST', path, { body });
    const unknown = await post(`${gone}/rollback`, { version: 1 });
    expectError(unknown, 404, 'environment_not_found');
    const body = { environment: 'nowhere', version: 1 };
    const named = await post('/v1/config/rollback', body);
    expectError(named, 400, 'invalid_request');
    expect(named.json.error?.['details']).toEqual([
      { path: 'environment', message: 'must be the name of an environment' },
    ]);
  });
});
