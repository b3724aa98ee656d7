import { expect, it } from '@jest/globals';
import type { ServiceHealth } from '../../api/client.ts';
import { healthReason } from './health-reason.ts';

const NOW = Date.UTC(2030, 0, 1, 12);
const ago = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString();

type Seen = Partial<ServiceHealth['upstreams'][number]['data_planes'][number]>;

function health(seen: readonly Seen[], overloaded_on: string[] = []): ServiceHealth {
  const healthy = { data_plane: 'dp', region: 'eu', status: 'healthy', since: null, reason: null };
  const upstreams = seen.map((one) => ({ data_planes: [{ ...healthy, ...one }] }));
  return { upstreams, overloaded_on } as unknown as ServiceHealth;
}

it.each([
  [health([{}, {}]), undefined],
  [health([{}], ['dp']), 'refuses requests: it is at one of its limits'],
  [
    health([{}, { status: 'ejected', since: ago(4), reason: '5 of 5 requests failed' }]),
    'ejected 4 min ago: 5 of 5 requests failed',
  ],
  [
    health([
      { status: 'ejected', since: ago(4) },
      { status: 'unhealthy', since: ago(90), reason: '3 of 3 checks failed' },
    ]),
    'unhealthy 1 h ago: 3 of 3 checks failed',
  ],
  [health([{ status: 'half_open' }]), 'on trial'],
])('says why a service is not healthy: %#', (of, reason) => {
  expect(healthReason(of, NOW)).toBe(reason);
});
