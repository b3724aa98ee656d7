import { Instruments, type Sample } from '@gateway/shared/telemetry/instruments';
import type { Registry } from 'prom-client';
import { BUCKET_BOUNDS, type BucketBounds } from './bucket-bounds.ts';

type CountingBounds = Pick<BucketBounds, 'fillPart' | 'refused'>;

/**
 * Registers the metrics of buckets. A scrape reads the fill of a bucket again in the background, so the value is as old
 * as the scrape before at most.
 *
 * @param buckets by name
 */
export function registerBucketMetrics(
  registry: Registry,
  buckets: ReadonlyMap<string, CountingBounds>,
): void {
  const instruments = new Instruments(registry);
  instruments.observeGauges(
    'gateway_bucket_fill_ratio',
    'The used part of a bucket of NATS, from 0 to 1, as this data plane read it last',
    ['bucket'],
    () => [...buckets].map(([bucket, { fillPart }]): Sample<'bucket'> => [{ bucket }, fillPart]),
  );
  instruments.observeCounters(
    'gateway_bucket_entries_refused_total',
    'New entries that a bucket of NATS did not get, by the bound that was reached',
    ['bucket', 'bound'],
    () =>
      [...buckets].flatMap(([bucket, { refused }]) =>
        BUCKET_BOUNDS.map((bound): Sample<'bucket' | 'bound'> => [
          { bucket, bound },
          refused[bound],
        ]),
      ),
  );
}
