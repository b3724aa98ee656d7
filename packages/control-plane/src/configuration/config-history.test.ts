import { expect, it } from '@jest/globals';
import { storedView } from './config-history.ts';

it('shows the default of a setting in a version that is older than the setting', () => {
  const row = { id: 'rte_1', environment: 'production', name: 'a', service_id: 'svc_1' };
  const times = {
    revision: 1,
    created_at: '2030-01-01',
    updated_at: '2030-01-01T00:00:00+00:00',
  };
  const idempotency = { required: true, on_unknown: 'forward' };
  const stored = { ...row, ...times, versions: null, regions: null, idempotency };
  expect(storedView('route', stored)).toMatchObject({
    service_id: 'svc_1',
    regions: [],
    idempotency: { ...idempotency, mode: 'store', repeatable_statuses: [425, 429] },
    retry: { backoff_ms: 25 },
    updated_at: '2030-01-01T00:00:00.000Z',
  });
});
