import { describe, expect, it } from '@jest/globals';
import type { ServiceHealth } from '../../api/client.ts';
import { healthMatrix } from './health-matrix.ts';
import { healthProblems } from './health-problems.ts';

type Upstream = ServiceHealth['upstreams'][number];
type Report = Upstream['data_planes'][number];

const seen = (
  data_plane: string,
  region: string,
  status: Report['status'],
  cause: Partial<Pick<Report, 'since' | 'reason'>> = {},
): Report => ({
  data_plane,
  region,
  status,
  since: null,
  reason: null,
  ...cause,
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
  overloaded_on: [],
  upstreams: [
    upstream('a', [seen('dp-3', 'us', 'ejected'), seen('dp-1', 'eu', 'healthy')]),
    upstream('b', [seen('dp-2', 'eu', 'unhealthy'), seen('dp-3', 'us', 'unhealthy')]),
  ],
};

describe('the health of a service', () => {
  it('is upstreams by data planes, which stand by region', () => {
    const { planes, rows } = healthMatrix(health);
    expect(planes.map(({ id }) => id)).toEqual(['dp-1', 'dp-2', 'dp-3']);
    expect(rows.map((row) => row.seen.map((one) => one?.status))).toEqual([
      ['healthy', undefined, 'ejected'],
      [undefined, 'unhealthy', 'unhealthy'],
    ]);
  });

  it('has its problems in words, with who reports them', () => {
    const problems = healthProblems(healthMatrix(health));
    // All are tried while none is healthy: see docs/use/policies/upstream-health.md.
    const fallback = 'It gets requests only while no other upstream is healthy.';
    expect(problems.map(({ meaning }) => meaning)).toEqual([fallback, fallback]);
    expect(problems.map(({ url, status, planes }) => [url, status, planes])).toEqual([
      ['http://a', 'ejected', ['dp-3']],
      ['http://b', 'unhealthy', ['dp-2', 'dp-3']],
    ]);
  });

  it('says why and since when, with those that have the same reason together', () => {
    const failed = '5 of 5 requests failed, the last with reset';
    const idle = 'idle: its checks pass, and no request has succeeded since its ejection';
    const matrix = healthMatrix({
      ...health,
      upstreams: [
        upstream('a', [
          seen('dp-1', 'eu', 'healthy', { since: '2026-03-01T09:00:00.000Z', reason: idle }),
          seen('dp-2', 'eu', 'ejected', { since: '2026-03-01T09:02:00.000Z', reason: failed }),
          seen('dp-3', 'us', 'ejected', { since: '2026-03-01T09:01:00.000Z', reason: failed }),
          seen('dp-4', 'us', 'healthy'),
        ]),
      ],
    });
    expect(healthProblems(matrix)).toMatchObject([
      {
        status: 'ejected',
        reason: failed,
        since: '2026-03-01T09:01:00.000Z',
        planes: ['dp-2', 'dp-3'],
      },
      { status: 'healthy', reason: idle, planes: ['dp-1'] },
    ]);
  });
});
