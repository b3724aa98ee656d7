import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { configCalls } from '../../../test/config-calls.ts';

let api: TestApi;
beforeEach(async () => void (api = await startTestApi()));
afterEach(() => api.close());

const { service, route, change, versions, diff, rollBack } = configCalls(() => api);

/** The history as a release stored it that had no access logs, limits, or methods of retries. */
const forgetSettings = async () => {
  for (const column of ['before', 'after']) {
    const stored = sql.ref(column);
    await sql`UPDATE config_outbox SET ${stored} = ${stored} - 'access_log' - 'limits'
      #- '{retry,unsafe_methods}' WHERE ${stored} IS NOT NULL`.execute(api.db);
  }
};

describe('a rollback across an upgrade that adds settings', () => {
  it('changes nothing if nothing else differs, and shows no difference', async () => {
    const id = await service('a');
    const routeId = await route('r', id);
    const version = await api.publish('production');
    await change(`/v1/services/${id}`, { health_path: '/x' });
    await change(`/v1/routes/${routeId}`, { timeout_ms: 5 });
    await api.publish('production');
    await forgetSettings();
    await change(`/v1/services/${id}`, { health_path: '/healthz' });
    await change(`/v1/routes/${routeId}`, { timeout_ms: 10_000 });
    const newest = await api.publish('production');
    expect((await diff(version, newest)).json.data).toEqual([]);
    expect((await rollBack(version)).json.data).toMatchObject({ changed: false, changes: [] });
  });

  it('names only the fields that a version changed', async () => {
    const id = await service('a');
    const routeId = await route('r', id);
    await api.publish('production');
    await forgetSettings();
    await change(`/v1/routes/${routeId}`, { timeout_ms: 5 });
    await sql`UPDATE config_outbox SET before = before - 'access_log' #- '{retry,unsafe_methods}'
      WHERE before IS NOT NULL`.execute(api.db);
    await api.publish('production');
    expect((await versions('&limit=1')).json.data).toMatchObject([
      { changed_resources: [{ resource_id: routeId, fields: ['timeout_ms'] }] },
    ]);
  });

  it('restores the default of a setting that did not exist', async () => {
    const id = await service('a');
    const routeId = await route('r', id);
    const version = await api.publish('production');
    await change(`/v1/routes/${routeId}`, {
      access_log: { enabled: false },
      retry: { unsafe_methods: 'always' },
    });
    await change(`/v1/services/${id}`, { limits: { max_in_flight: 5 } });
    await sql`UPDATE config_outbox SET before = before - 'access_log' - 'limits'
      #- '{retry,unsafe_methods}' WHERE before IS NOT NULL`.execute(api.db);
    await api.publish('production');
    expect((await rollBack(version)).json.data).toMatchObject({ changed: true });
    expect((await api.call('GET', `/v1/routes/${routeId}`)).json.data).toMatchObject({
      access_log: { enabled: true },
      retry: { unsafe_methods: 'never' },
    });
    expect((await api.call('GET', `/v1/services/${id}`)).json.data).toMatchObject({
      limits: { max_in_flight: null },
    });
  });
});
