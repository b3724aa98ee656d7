import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { HEARTBEAT_LIFETIME_MS } from '@gateway/shared/heartbeats/heartbeat';
import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import { startTestApi, type TestApi } from '../../../test/api.ts';

let api: TestApi;
beforeEach(async () => void (api = await startTestApi()));
afterEach(() => api.close());

const USE = {
  process_cpu_ratio: 0.4213,
  process_resident_memory_bytes: 222_298_112,
  memory_limit_bytes: 536_870_912,
  event_loop_delay_ms: 6,
};

const ids = (list: readonly { id: string }[] | undefined) => list?.map(({ id }) => id);

async function list(query = '', token?: string) {
  const options = token === undefined ? {} : { token };
  const { status, json } = await api.call('GET', `/v1/data-planes${query}`, options);
  return { status, data: json.data, next: json.next_cursor, error: json.error };
}

function beat(id: string, fields: Parameters<typeof heartbeatOf>[1] = {}) {
  api.dataPlanes.take(heartbeatOf(id, fields), api.clock.monotonicMs());
}

describe('GET /v1/data-planes', () => {
  it('shows the last heartbeat of each data plane, and how far it is behind in each environment', async () => {
    const development = await api.publish('development');
    await api.publish('production');
    const newest = await api.publish('production');
    beat('dp-1', {
      region: 'us',
      started_at_ms: Date.UTC(2029, 0, 1),
      in_flight: 3,
      server_ahead_ms: -300_000,
      ...USE,
      config_versions: { production: newest - 1, development },
      config_errors: { production: 'production: snapshot_refused: the bytes are others' },
    });
    api.clock.advance(1500);
    const { data } = await list();
    expect(data).toEqual([
      {
        id: 'dp-1',
        region: 'us',
        gateway_version: '1.2.3',
        stale: false,
        in_flight: 3,
        server_ahead_ms: -300_000,
        ...USE,
        started_at: '2029-01-01T00:00:00.000Z',
        last_seen_at: new Date(api.clock.nowMs() - 1500).toISOString(),
        last_error: 'production: snapshot_refused: the bytes are others',
        environments: [
          {
            environment: 'development',
            version: development,
            newest_version: development,
            versions_behind: 0,
            unusable_count: 0,
            unusable: [],
            seconds_behind: 0,
            last_error: null,
          },
          {
            environment: 'production',
            version: newest - 1,
            newest_version: newest,
            versions_behind: 1,
            unusable_count: 0,
            unusable: [],
            seconds_behind: expect.any(Number),
            last_error: 'production: snapshot_refused: the bytes are others',
          },
        ],
      },
    ]);
  });

  it('shows null for what a data plane of an older release does not report', async () => {
    beat('old', { gateway_version: '0.2.0' });
    const unknown = Object.fromEntries(Object.keys(USE).map((name) => [name, null]));
    expect((await list()).data).toMatchObject([{ id: 'old', ...unknown }]);
  });

  it('shows a data plane as stale after three missed heartbeats, and later not at all', async () => {
    beat('silent');
    beat('leaving');
    api.dataPlanes.remove('leaving');
    api.clock.advance(HEARTBEAT_LIFETIME_MS);
    expect((await list()).data).toMatchObject([{ id: 'silent', stale: false }]);
    api.clock.advance(1);
    expect((await list()).data).toMatchObject([{ id: 'silent', stale: true }]);
    beat('silent');
    expect((await list()).data).toMatchObject([{ id: 'silent', stale: false }]);
  });

  it('shows that a data plane serves nothing, whatever its clock says', async () => {
    await api.publish('production');
    beat('new', { started_at_ms: 1e300, gateway_version: null });
    const { data } = await list('?environment=production');
    expect(data).toMatchObject([
      {
        started_at: '1970-01-01T00:00:00.000Z',
        gateway_version: null,
        environments: [{ environment: 'production', version: null, versions_behind: 1 }],
      },
    ]);
  });

  it('shows only the environments that the token covers, also in errors', async () => {
    await api.publish('production');
    beat('dp-1', {
      config_versions: { production: 1, development: 0 },
      config_errors: { production: 'production: apply_failed: no' },
      last_error: 'production: apply_failed: no',
    });
    const fields = { environments: ['development'], scopes: ['config:write'] };
    const token = await api.makeToken({ name: 'of development', ...fields });
    const { data } = await list('', token);
    expect(data).toMatchObject([
      { id: 'dp-1', last_error: null, environments: [{ environment: 'development' }] },
    ]);
    expect(JSON.stringify(data)).not.toContain('production');
    expect((await list('?environment=production', token)).status).toBe(401);
    expect((await list('?environment=development', token)).status).toBe(200);
  });

  it('has pages in the order of the ids', async () => {
    for (const id of ['c', 'a', 'b']) beat(id);
    const first = await list('?limit=2');
    expect(ids(first.data)).toEqual(['a', 'b']);
    beat('aa');
    const second = await list(`?limit=2&cursor=${first.next ?? ''}`);
    expect(ids(second.data)).toEqual(['c']);
    expect(second.next).toBeNull();
    expect((await list('?cursor=x')).status).toBe(400);
    expect((await list('?limit=0')).status).toBe(400);
    expect((await list('?what=1')).status).toBe(400);
  });
});
