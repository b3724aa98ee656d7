import { Counter, Gauge, type Registry } from 'prom-client';
import type { LeasedQuotaStore } from './leased-quota-store.ts';

type CountingStore = Pick<LeasedQuotaStore, 'counts' | 'leasing' | 'size'>;

/** Tells what the store counts, whenever Prometheus asks: a request touches numbers in memory alone. */
export function registerQuotaMetrics(registry: Registry, store: CountingStore): void {
  const { counts } = store;
  counter(
    registry,
    'gateway_quota_takes_total',
    'Requests that were counted against a quota',
    () => [[{}, counts.takes]],
  );
  counter(
    registry,
    'gateway_quota_waits_total',
    'Requests that waited for a lease from NATS, or for the beginning of a window',
    () => [
      [{ for: 'lease' }, counts.leaseWaits],
      [{ for: 'window' }, counts.windowWaits],
    ],
  );
  counter(
    registry,
    'gateway_quota_share_takes_total',
    'Requests that were granted or refused by the share of this data plane, as NATS gave no lease',
    () => [[{}, counts.shared]],
  );
  counter(registry, 'gateway_quota_leased_total', 'Requests that leases were taken for', () => [
    [{}, counts.leased],
  ]);
  counter(registry, 'gateway_quota_refills_total', 'Rounds with NATS for leases, by result', () => [
    [{ result: 'answered' }, counts.refills],
    [{ result: 'failed' }, counts.failedRefills],
  ]);
  counter(
    registry,
    'gateway_quota_conflicts_total',
    'Writes of a lease before which another data plane came; each was made again',
    () => [[{}, counts.conflicts]],
  );
  counter(
    registry,
    'gateway_quota_unanswered_total',
    'Writes of a lease that NATS did not answer in time; what one took may be granted to nobody',
    () => [[{}, counts.unanswered]],
  );
  gauge(registry, 'gateway_quota_leasing', '1 while leases can be had from NATS', () =>
    store.leasing ? 1 : 0,
  );
  gauge(registry, 'gateway_quota_counters', 'Quotas that are counted at present', () => store.size);
}

type Samples = readonly (readonly [Record<string, string>, number])[];

function counter(registry: Registry, name: string, help: string, read: () => Samples): void {
  const [first] = read();
  const labelNames = Object.keys(first?.[0] ?? {});
  new Counter({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      this.reset();
      for (const [labels, value] of read()) this.inc(labels, value);
    },
  });
}

function gauge(registry: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}
