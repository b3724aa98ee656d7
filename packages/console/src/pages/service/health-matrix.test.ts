import { describe, expect, it } from '@jest/globals';
import type { ServiceHealth } from '../../api/client.ts';
import { healthMatrix } from './health-matrix.ts';
import { healthProblems } from './health-problems.ts';

type Upstream = ServiceHealth['upstreams'][number];
type Report = Upstream['data_planes'][number];

const seen = (data_plane: string, region: string, status: Report['status']): Report => ({
  data_plane,
  region,
  status,
  last_seen_at: '2026-03-01T09:30:00.000Z',
});

const upstream = (id: string, data_planes: Report[]): Upstream => ({
  id,
  url: `http://${id}`,
  region: null,
  status: 'degraded',
  regions: [],
  data_planes,
});

const health: ServiceHealth = {
  service_id: 'svc_1',
  status: 'degraded',
  upstreams: [
    upstream('a', [seen('dp-3', 'us', 'ejected'), seen('dp-1', 'eu', 'healthy')]),
    upstream('b', [seen('dp-2', 'eu', 'unhealthy'), seen('dp-3', 'us', 'unhealthy')]),
  ],
};

describe('the health of a service', () => {
  it('is upstreams by data planes, which stand by region', () => {
    const { planes, rows } = healthMatrix(health);
    expect(planes.map(({ id }) => id)).toEqual(['dp-1', 'dp-2', 'dp-3']);
    expect(rows.map(({ statuses }) => statuses)).toEqual([
      ['healthy', undefined, 'ejected'],
      [undefined, 'unhealthy', 'unhealthy'],
    ]);
  });

  it('has its problems in words, with who reports them', () => {
    const problems = healthProblems(healthMatrix(health));
    expect(problems.map(({ url, status, planes }) => [url, status, planes])).toEqual([
      ['http://a', 'ejected', ['dp-3']],
      ['http://b', 'unhealthy', ['dp-2', 'dp-3']],
    ]);
  });
});
