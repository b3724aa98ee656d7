import { Instruments } from '@gateway/shared/telemetry/instruments';
import type { Counter, Registry } from 'prom-client';

export interface ConnectionTestMetrics {
  readonly tests: Counter<'result'>;
}

/** Registers the metrics of connections that control planes ask to test. */
export function createConnectionTestMetrics(registry: Registry): ConnectionTestMetrics {
  return {
    tests: new Instruments(registry).counterBy(
      'gateway_connection_tests_total',
      'Connections to upstreams that a control plane asked to test, by result; refused: above the limit of this data plane',
      'result',
      ['healthy', 'unhealthy', 'failed', 'refused'],
    ),
  };
}
