import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MAX_UPSTREAM_STATES, type Heartbeat } from '@gateway/shared/heartbeats/heartbeat';
import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import { expectError } from '../../../test/expect-error.ts';
import { startTestApi, type TestApi } from '../../../test/api.ts';

describe('GET /v1/services/{id}/health', () => {
  let api: TestApi;
  let path: string;
  let serviceId: string;
  let upstreams: readonly string[];

  beforeAll(async () => {
    api = await startTestApi();
    const body = {
      name: 'pay',
      environment: 'production',
      upstreams: [{ url: 'http://a.example', region: 'eu' }, { url: 'http://b.example' }],
    };
    const made = await api.call('POST', '/v1/services', { body });
    serviceId = made.json.data?.id ?? '';
    path = `/v1/services/${serviceId}/health`;
    const row = await api.db.selectFrom('services').select('upstreams').executeTakeFirstOrThrow();
    upstreams = row.upstreams.map(({ id }) => id);
  });

  afterAll(async () => {
    await api.close();
  });

  function beat(id: string, region: string, fields: Partial<Heartbeat>): void {
    const heartbeat = heartbeatOf(id, { region, ...fields });
    api.dataPlanes.take(heartbeat, api.clock.monotonicMs());
  }

  const [first, second] = [() => upstreams[0] ?? '', () => upstreams[1] ?? ''];
  const shown = async () => (await api.call('GET', path)).json.data;

  it('is unknown without a live data plane', async () => {
    expect(await shown()).toMatchObject({
      service_id: serviceId,
      upstreams: [
        { id: first(), url: 'http://a.example', region: 'eu', status: 'unknown', regions: [] },
        { id: second(), url: 'http://b.example', region: null, data_planes: [] },
      ],
    });
  });

  it('shows each upstream for each region and data plane, failing ones first', async () => {
    beat('dp-1', 'eu', { services: { [serviceId]: [2, 0, 0] } });
    beat('dp-2', 'eu', {
      services: { [serviceId]: [1, 1, 0] },
      upstream_states: [[first(), 'ejected']],
      upstream_reasons: [
        {
          id: first(),
          since_ms: Date.UTC(2029, 11, 31, 23, 59, 50),
          reason: 'consecutive_failures',
          detail: 'status_503',
          failures: 5,
        },
      ],
    });
    beat('dp-3', 'us', {
      services: { [serviceId]: [0, 1, 1] },
      upstream_states: [
        [first(), 'unhealthy'],
        [second(), 'unknown'],
      ],
    });
    beat('dp-4', 'us', {});
    // Also what a data plane of an earlier version reports.
    const noReason = { since: null, reason: null };
    const last_seen_at = '2030-01-01T00:00:00.000Z';
    expect((await shown())?.['upstreams']).toEqual([
      {
        id: first(),
        url: 'http://a.example',
        region: 'eu',
        status: 'degraded',
        regions: [
          { region: 'eu', healthy: 1, failing: 1, unknown: 0 },
          { region: 'us', healthy: 0, failing: 1, unknown: 1 },
        ],
        data_planes: [
          {
            data_plane: 'dp-2',
            region: 'eu',
            status: 'ejected',
            since: '2029-12-31T23:59:50.000Z',
            reason: '5 of 5 requests failed, the last with status_503',
            last_seen_at,
          },
          { data_plane: 'dp-3', region: 'us', status: 'unhealthy', ...noReason, last_seen_at },
          { data_plane: 'dp-4', region: 'us', status: 'unknown', ...noReason, last_seen_at },
          { data_plane: 'dp-1', region: 'eu', status: 'healthy', ...noReason, last_seen_at },
        ],
      },
      expect.objectContaining({ id: second(), status: 'healthy' }),
    ]);
  });

  it('says unknown, not healthy, if a heartbeat does not name every upstream', async () => {
    const others = Array.from(
      { length: MAX_UPSTREAM_STATES },
      (_, at) => [`ups_${at}`, 'unhealthy'] satisfies [string, string],
    );
    beat('dp-5', 'asia', {
      services: { [serviceId]: [1, 1, 0] },
      upstream_states: others as Heartbeat['upstream_states'],
    });
    const upstreams = (await shown())?.['upstreams'] as { regions: object[] }[] | undefined;
    expect(upstreams?.[0]?.regions[0]).toEqual({
      region: 'asia',
      healthy: 0,
      failing: 0,
      unknown: 1,
    });
  });

  it('names the data planes on which the service is at one of its limits', async () => {
    expect(await shown()).toMatchObject({ overloaded_on: [] });
    beat('dp-8', 'eu', {
      services: { [serviceId]: [2, 0, 0] },
      overloaded_services: ['svc_other', serviceId],
    });
    expect(await shown()).toMatchObject({ status: 'degraded', overloaded_on: ['dp-8'] });
  });

  it('leaves out data planes that are not live any more', async () => {
    api.clock.advance(60_000);
    beat('dp-6', 'eu', { services: { [serviceId]: [2, 0, 0] } });
    const all = (await shown())?.['upstreams'] as { data_planes: object[] }[];
    expect(all[0]?.data_planes).toMatchObject([{ data_plane: 'dp-6' }]);
  });

  it('is 404 for an unknown service, and 401 for one of another environment', async () => {
    const unknown = `/v1/services/svc_00000000000000000000000000/health`;
    expectError(await api.call('GET', unknown), 404, 'service_not_found');
    const body = { name: 'other', environments: ['development'], scopes: ['services:read'] };
    const token = await api.makeToken(body);
    expectError(await api.call('GET', path, { token }), 401, 'authentication_failed');
  });
});
