import { expect, it } from '@jest/globals';
import { revertOf } from './revert.ts';

const route = {
  id: 'rte_1',
  name: 'charges',
  revision: 4,
  updated_at: 'now',
  status: 'disabled',
  timeout_ms: 50,
  service_id: null,
  versions: [{ name: 'a' }] as unknown,
};
const service = {
  name: 'pay',
  revision: 2,
  url: 'http://b',
  upstreams: [{ url: 'http://b' }],
  health_path: '/x',
  health_check: { path: '/x', interval_ms: 5 },
  credential: { type: 'bearer', updated_at: '1' } as object | null,
  tls: null as object | null,
};
const changed = (resource_type: string, before: object | null, after: object | null) => ({
  resource_type,
  before: before as Record<string, unknown> | null,
  after: after as Record<string, unknown> | null,
});
const before = { ...route, revision: 3, updated_at: 'then', status: 'active' };

it('sends each field that differs as it was, and fields of which one replaces the other together', () => {
  expect(revertOf(changed('route', before, route), route)).toEqual({ body: { status: 'active' } });
  const moved = { ...before, status: 'disabled', service_id: 'svc_1', versions: null };
  expect(revertOf(changed('route', moved, route), route)).toEqual({
    body: { service_id: 'svc_1', versions: null },
  });
  const checked = {
    ...service,
    revision: 1,
    url: 'http://a',
    upstreams: [{ url: 'http://a' }],
    health_path: '/y',
    health_check: { path: '/y', interval_ms: 5 },
  };
  expect(revertOf(changed('service', checked, service), service)).toEqual({
    body: {
      upstreams: [{ url: 'http://a' }],
      health_path: '/y',
      health_check: { path: null, interval_ms: 5 },
    },
  });
});

it.each([
  [
    'changed again',
    changed('route', before, route),
    { ...route, revision: 5 },
    'was changed again since',
  ],
  ['created', changed('route', null, route), route, 'was created; delete it instead'],
  ['deleted', changed('route', route, null), route, 'was deleted; roll back'],
  [
    'without a change',
    changed('route', { ...route, revision: 3 }, route),
    route,
    'changed no setting',
  ],
  ['of a token', changed('token', {}, {}), route, 'A change of a token cannot be reverted.'],
  [
    'with a new secret at the same address',
    changed('service', { ...service, credential: { type: 'bearer', updated_at: '0' } }, service),
    service,
    'replaced a secret',
  ],
  [
    'with a new secret and another address',
    changed('service', { ...service, credential: null, upstreams: [{ url: 'http://a' }] }, service),
    service,
    'replaced a secret',
  ],
  [
    'with a new certificate',
    changed('service', { ...service, tls: { client_certificate: { cert_pem: 'a' } } }, service),
    service,
    'replaced a secret',
  ],
])('refuses one that was %s', (_what, change, current, why) => {
  expect(revertOf(change, current).refused).toContain(why);
});
