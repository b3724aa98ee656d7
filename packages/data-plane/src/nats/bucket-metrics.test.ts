import { expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { registerBucketMetrics } from './bucket-metrics.ts';

it('a scrape shows how full each bucket is, and what it did not get', async () => {
  const registry = new Registry();
  const none = { route: 0, no_credentials: 0, bucket: 0 };
  const buckets = new Map([
    ['quotas', { fillPart: 0.25, refused: { ...none, route: 3 } }],
    ['keys', { fillPart: 0.5, refused: none }],
  ]);
  registerBucketMetrics(registry, buckets);
  const metrics = await registry.metrics();
  expect(metrics).toContain('gateway_bucket_fill_ratio{bucket="quotas"} 0.25');
  expect(metrics).toContain('gateway_bucket_fill_ratio{bucket="keys"} 0.5');
  const refused = 'gateway_bucket_entries_refused_total';
  expect(metrics).toContain(`${refused}{bucket="quotas",bound="route"} 3`);
  expect(metrics).toContain(`${refused}{bucket="keys",bound="bucket"} 0`);
});
