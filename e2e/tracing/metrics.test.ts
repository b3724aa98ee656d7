import { eventually } from '@gateway/shared/test/eventually';
import { startOtlpReceiver } from '@gateway/shared/test/otlp-receiver';
import { expect, it } from '@jest/globals';
import { startGateway } from '../harness/gateway.ts';

it('metrics over OTLP are those that Prometheus gets, of both planes', async () => {
  const receiver = await startOtlpReceiver();
  const gateway = await startGateway({
    env: {
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_METRIC_EXPORT_INTERVAL: '200',
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    },
  });
  try {
    await gateway.route({ name: 'orders' });
    await gateway.settled();
    for (let sent = 0; sent < 3; sent += 1) await gateway.admin.proxy('orders');
    const newest = (service: string, name: string) =>
      receiver.metrics.findLast(
        (metric) => metric.resource['service.name'] === service && metric.name === name,
      );
    const attributes = expect.objectContaining({ route: 'orders', environment: 'production' });
    await eventually(() => {
      expect(newest('gateway-data-plane', 'gateway_requests')).toMatchObject({
        kind: 'sum',
        points: expect.arrayContaining([{ attributes, value: 3 }]),
      });
    });
    expect(newest('gateway-data-plane', 'gateway_request_duration')).toMatchObject({
      kind: 'histogram',
      unit: 's',
      points: expect.arrayContaining([expect.objectContaining({ attributes, count: 3 })]),
    });
    await eventually(() => {
      expect(newest('gateway-control-plane', 'process_resident_memory')).toMatchObject({
        kind: 'gauge',
        unit: 'By',
      });
    });
    // No part of traces is on.
    expect(receiver.spans).toEqual([]);
    const exported = /^gateway_metric_exports_total\{result="exported"\} [1-9]/m;
    const { adminUrl } = gateway.dataPlanes[0] ?? gateway.controlPlane;
    // The receiver has an export before the data plane has its answer.
    await eventually(async () => {
      expect(await (await fetch(`${adminUrl}/metrics`)).text()).toMatch(exported);
    });
  } finally {
    await gateway.close();
    await receiver.close();
  }
}, 60_000);
