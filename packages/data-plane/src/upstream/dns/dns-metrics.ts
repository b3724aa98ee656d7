import { Counter, Gauge, type Registry } from 'prom-client';
import type { DnsCache } from './dns-cache.ts';

/** Registers the metrics of the DNS cache. */
export function registerDnsMetrics(registry: Registry, names: DnsCache): void {
  const registers = [registry];
  const { counts } = names;
  new Counter({
    name: 'gateway_dns_lookups_total',
    help: 'DNS lookups of upstreams and token issuers, by result',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      this.inc({ result: 'answered' }, counts.answered);
      this.inc({ result: 'failed' }, counts.failed);
    },
  });
  new Counter({
    name: 'gateway_dns_stale_uses_total',
    help: 'Connections to the last good addresses of a name that did not resolve',
    registers,
    collect() {
      this.reset();
      this.inc(counts.stale);
    },
  });
  new Counter({
    name: 'gateway_dns_names_dropped_total',
    help: 'Names that were removed from the DNS cache because there were too many',
    registers,
    collect() {
      this.reset();
      this.inc(counts.dropped);
    },
  });
  new Gauge({
    name: 'gateway_dns_names',
    help: 'Names in the DNS cache; stale: they do not resolve, and their last good addresses are used; unanswered: no name server answered in the last minute, and there are no good addresses',
    labelNames: ['state'],
    registers,
    collect() {
      const { staleNames: stale, unansweredNames: unanswered } = names;
      this.set({ state: 'stale' }, stale);
      this.set({ state: 'unanswered' }, unanswered);
      this.set({ state: 'other' }, names.size - stale - unanswered);
    },
  });
}
