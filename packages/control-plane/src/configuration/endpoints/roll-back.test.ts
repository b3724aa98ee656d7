import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { configCalls } from '../../../test/config-calls.ts';
import { untilEnded } from '../../../test/until-ended.ts';

let api: TestApi;
beforeEach(async () => void (api = await startTestApi()));
afterEach(() => api.close());

const { service, route, change, all, versions, diff, rollBack } = configCalls(() => api);

/** Services and routes without revisions and times, which a rollback changes. */
async function configuration() {
  const strip = (rows: readonly Record<string, unknown>[]) =>
    rows.map((row) => ({ ...row, revision: undefined, updated_at: undefined }));
  return { services: strip(await all('/v1/services')), routes: strip(await all('/v1/routes')) };
}

describe('a rollback', () => {
  it('restores services and routes that were created, renamed, moved or deleted since', async () => {
    const credential = { type: 'bearer', token: 'a-secret' };
    const [a, b] = [await service('a', { credential }), await service('b')];
    const doomed = await service('doomed');
    const ra = await route('ra', a, { methods: ['GET'], regions: ['eu'], timeout_ms: 5000 });
    const rb = await route('rb', b);
    await route('rd', doomed);
    const version = await api.publish('production');
    const then = await configuration();

    // Names are exchanged, so that no order of single writes would work.
    await change(`/v1/services/${a}`, { name: 'x', credential: null });
    await change(`/v1/services/${b}`, { name: 'a' });
    await change(`/v1/services/${a}`, { name: 'b' });
    await change(`/v1/routes/${ra}`, { name: 'x' });
    await change(`/v1/routes/${rb}`, { name: 'ra', service_id: a });
    await change(`/v1/routes/${ra}`, { name: 'rb', timeout_ms: 1 });
    const [rd] = (await all('/v1/routes?name=rd')) as { id: string }[];
    expect(rd).toBeUndefined();
    const doomedRoute = (await all('/v1/routes')).find(({ name }) => name === 'rd');
    await change(`/v1/routes/${String(doomedRoute?.['id'])}`);
    await change(`/v1/services/${doomed}`);
    await api.publish('production');
    const newcomer = await service('doomed');
    await route('rd', newcomer);

    const answer = await rollBack(version);
    expect(answer.json.data).toEqual({
      environment: 'production',
      restored_version: version,
      dry_run: false,
      changed: true,
      services: { created: 1, updated: 2, deleted: 1 },
      routes: { created: 1, updated: 2, deleted: 1 },
      changes: expect.any(Array),
    });
    expect(await configuration()).toEqual(then);
    const newest = await api.publish('production');
    expect((await diff(version, newest)).json.data).toEqual([]);
  });

  it('as a dry run shows each change that it would make, and makes none', async () => {
    const credential = { type: 'bearer', token: 'first-secret' };
    const id = await service('pay', { credential });
    const charges = await route('charges', id);
    const gone = await route('gone', id);
    const version = await api.publish('production');
    api.clock.advance(1000);
    await change(`/v1/services/${id}`, { credential: { ...credential, token: 'second-secret' } });
    await change(`/v1/routes/${charges}`, { status: 'disabled', timeout_ms: 50 });
    await change(`/v1/routes/${gone}`);
    await api.publish('production');
    await route('pending', id);
    const before = await configuration();
    const dry = await rollBack(version, { body: { dry_run: true } });
    expect([dry.status, dry.json.data]).toEqual([
      200,
      {
        environment: 'production',
        restored_version: version,
        dry_run: true,
        changed: true,
        services: { created: 0, updated: 1, deleted: 0 },
        routes: { created: 1, updated: 1, deleted: 1 },
        changes: [
          {
            resource_type: 'service',
            resource_id: id,
            name: 'pay',
            action: 'updated',
            fields: [{ path: '/credential', before: null, after: null, secret_changed: true }],
            before: null,
            after: null,
          },
          {
            resource_type: 'route',
            resource_id: charges,
            name: 'charges',
            action: 'updated',
            fields: [
              { path: '/status', before: 'disabled', after: 'active' },
              { path: '/timeout_ms', before: 50, after: 10_000 },
            ],
            before: null,
            after: null,
          },
          expect.objectContaining({
            resource_id: gone,
            action: 'created',
            after: expect.objectContaining({ name: 'gone', service: 'pay' }),
          }),
          expect.objectContaining({
            name: 'pending',
            action: 'deleted',
            before: expect.objectContaining({ service: 'pay', timeout_ms: 10_000 }),
          }),
        ],
      },
    ]);
    for (const secret of ['first-secret', 'second-secret', 'sealed']) {
      expect(dry.text).not.toContain(secret);
    }
    expect(await configuration()).toEqual(before);
    const made = await rollBack(version);
    const changes = (dry.json.data as unknown as { readonly changes: object }).changes;
    expect(made.json.data).toMatchObject({ dry_run: false, changes });
    const none = await rollBack(version, { body: { dry_run: true } });
    expect(none.json.data).toMatchObject({ changed: false, changes: [] });
  });

  it('increases revisions, also of resources that were deleted', async () => {
    const id = await service('a');
    await change(`/v1/services/${id}`, { health_path: '/x' });
    const version = await api.publish('production');
    await change(`/v1/services/${id}`, { health_path: '/y' });
    await change(`/v1/services/${id}`);
    await rollBack(version);
    const read = await api.call('GET', `/v1/services/${id}`);
    expect(read.json.data).toMatchObject({ revision: 4, health_path: '/x' });
  });

  it('does not change tokens: a token that was revoked since stays revoked', async () => {
    const token = await api.makeToken({ name: 'x', environments: ['*'], scopes: ['*'] });
    const id = await service('a');
    const version = await api.publish('production');
    const tokens = (await all('/v1/tokens')).find(({ name }) => name === 'x');
    await change(`/v1/tokens/${String(tokens?.['id'])}`);
    await change(`/v1/services/${id}`);
    expect((await rollBack(version)).json.data).toMatchObject({ changed: true });
    expect((await api.call('GET', '/v1/services', { token })).status).toBe(401);
  });

  it('to the current state changes nothing, and reports that', async () => {
    await service('a');
    const version = await api.publish('production');
    const { json } = await rollBack(version);
    expect(json.data).toMatchObject({ changed: false, services: { updated: 0 } });
    const actions = (await all('/v1/audit-events')).map(({ action }) => action);
    expect(actions).toContain('service.created');
    expect(actions).not.toContain('environment.rolled_back');
  });

  it('changes nothing if upstreams were replaced and came back, and shows no difference', async () => {
    const id = await service('a');
    const upstreams = (await api.call('GET', `/v1/services/${id}`)).json.data?.['upstreams'];
    const version = await api.publish('production');
    await change(`/v1/services/${id}`, { upstreams: [{ url: 'http://other.example' }] });
    await change(`/v1/services/${id}`, { upstreams });
    const newest = await api.publish('production');
    expect((await diff(version, newest)).json.data).toEqual([]);
    expect((await rollBack(version)).json.data).toMatchObject({ changed: false, changes: [] });
  });

  it('has an audit event for itself and for each service and route, with the token of the call', async () => {
    const id = await service('a');
    const version = await api.publish('production');
    await change(`/v1/services/${id}`, { health_path: '/x' });
    await api.publish('production');
    const { headers } = await rollBack(version);
    const requestId = headers.get('x-request-id') ?? '';
    const events = await api.call('GET', `/v1/audit-events?request_id=${requestId}`);
    const seen = [...(events.json.data ?? [])].sort((x, y) =>
      String(x['action']) < String(y['action']) ? -1 : 1,
    );
    expect(seen).toMatchObject([
      { action: 'environment.rolled_back', after: { restored_version: version } },
      {
        action: 'service.updated',
        resource_id: id,
        token_id: expect.any(String),
        before: { health_path: '/x' },
        after: { health_path: '/healthz', revision: 3 },
      },
    ]);
    const newest = await api.publish('production');
    expect((await versions('&limit=1')).json.data).toMatchObject([
      { version: newest, changes: 1, changed_by: [expect.any(String)] },
    ]);
  });

  it('does not change other environments', async () => {
    const elsewhere = await service('a', { environment: 'development' });
    const version = await api.publish('production');
    await change(`/v1/services/${elsewhere}`, { health_path: '/x' });
    expect((await rollBack(version)).json.data).toMatchObject({ changed: false });
  });

  it('runs at the same time as other changes without losing one or failing', async () => {
    const ids = await Promise.all(['a', 'b', 'c'].map((name) => service(name)));
    const version = await api.publish('production');
    const work = ids.flatMap((id) =>
      ['/x', '/y'].map((health_path) =>
        api.call('PATCH', `/v1/services/${id}`, { body: { health_path } }),
      ),
    );
    const calls = Promise.all([...work, rollBack(version), rollBack(version)]);
    const answers = await untilEnded(api, calls);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    await rollBack(version);
    const paths = (await all('/v1/services')).map(({ health_path }) => health_path);
    expect(paths).toEqual(['/healthz', '/healthz', '/healthz']);
  });
});
