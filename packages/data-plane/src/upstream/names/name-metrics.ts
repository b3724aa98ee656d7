import { Counter, Gauge, type Registry } from 'prom-client';
import type { NameCache } from './name-cache.ts';

export function registerNameMetrics(registry: Registry, names: NameCache): void {
  const registers = [registry];
  const { counts } = names;
  new Counter({
    name: 'gateway_name_resolutions_total',
    help: 'Questions for the addresses of names of upstreams and token issuers, by result',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      this.inc({ result: 'answered' }, counts.answered);
      this.inc({ result: 'failed' }, counts.failed);
    },
  });
  new Counter({
    name: 'gateway_stale_name_uses_total',
    help: 'Connections made to the last good addresses of a name that did not resolve',
    registers,
    collect() {
      this.reset();
      this.inc(counts.stale);
    },
  });
  new Counter({
    name: 'gateway_names_dropped_total',
    help: 'Names whose addresses were forgotten as there were too many',
    registers,
    collect() {
      this.reset();
      this.inc(counts.dropped);
    },
  });
  new Gauge({
    name: 'gateway_names',
    help: 'Names whose addresses are known or asked for; stale: they do not resolve, and their last good addresses are used',
    labelNames: ['state'],
    registers,
    collect() {
      const stale = names.staleNames;
      this.set({ state: 'stale' }, stale);
      this.set({ state: 'other' }, names.size - stale);
    },
  });
}
