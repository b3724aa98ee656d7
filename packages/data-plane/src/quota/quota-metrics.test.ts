import { expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { registerQuotaMetrics } from './quota-metrics.ts';

it('each count of the store has its own metric', async () => {
  const registry = new Registry();
  const counts = {
    takes: 1,
    leaseWaits: 2,
    windowWaits: 3,
    reserveTakes: 4,
    refills: 5,
    leased: 6,
    failedRefills: 7,
    conflicts: 8,
    unanswered: 9,
    recalls: 11,
    recallsSkipped: 12,
    recallsUnanswered: 13,
  };
  registerQuotaMetrics(registry, { counts, leasing: true, share: 0.25, size: 10 });
  const lines = (await registry.metrics()).split('\n').filter((line) => /^[a-z]/.test(line));
  expect(lines).toEqual([
    'gateway_quota_takes_total 1',
    'gateway_quota_waits_total{for="lease"} 2',
    'gateway_quota_waits_total{for="window"} 3',
    'gateway_quota_share_takes_total 4',
    'gateway_quota_leased_total 6',
    'gateway_quota_refills_total{result="answered"} 5',
    'gateway_quota_refills_total{result="failed"} 7',
    'gateway_quota_conflicts_total 8',
    'gateway_quota_unanswered_total 9',
    'gateway_quota_recalls_total{result="sent"} 11',
    'gateway_quota_recalls_total{result="skipped"} 12',
    'gateway_quota_recalls_total{result="unanswered"} 13',
    'gateway_quota_leasing 1',
    'gateway_quota_share 0.25',
    'gateway_quota_counters 10',
  ]);
});
