import { expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { createHealthMetrics } from './health-metrics.ts';

it('services without a healthy upstream have a series, however many services there are', async () => {
  const registry = new Registry();
  const counts = [1, 0, 0] as const;
  createHealthMetrics(registry, {
    upstreams: () => [],
    inSlowStart: () => 0,
    waitingChecks: () => 0,
    *services() {
      for (let index = 0; index < 1000; index += 1) yield [`svc_${index}`, counts] as const;
      yield ['svc_down', [0, 1, 0]] as const;
    },
  });
  const text = await registry.getSingleMetricAsString('gateway_service_healthy_upstreams');
  const lines = text.split('\n').filter((line) => line.startsWith('gateway'));
  expect(lines).toHaveLength(1000);
  expect(lines).toContain('gateway_service_healthy_upstreams{service_id="svc_down"} 0');
});
