import { expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { createWaitMetrics } from './wait-metrics.ts';
import { WAIT_RESULTS } from './wait-result.ts';

it('each result of a wait is counted from 0, so that a rate shows the first one', async () => {
  const registry = new Registry();
  createWaitMetrics(registry);
  const metrics = await registry.metrics();
  for (const result of WAIT_RESULTS) {
    expect(metrics).toContain(`gateway_control_plane_waits_total{result="${result}"} 0`);
  }
});
