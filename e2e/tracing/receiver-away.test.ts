import { closedPort } from '@gateway/shared/test/upstream';
import { eventually } from '@gateway/shared/test/eventually';
import { startOtlpReceiver, type OtlpReceiver } from '@gateway/shared/test/otlp-receiver';
import { afterEach, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../harness/gateway.ts';

const QUEUE = 20;
const REQUESTS = 60;

describe('traces whose receiver does not take them', () => {
  let gateway: Gateway | undefined;
  let receiver: OtlpReceiver | undefined;
  afterEach(async () => {
    await gateway?.close();
    await receiver?.close();
  });

  async function start(url: string, more: Record<string, string> = {}): Promise<Gateway> {
    gateway = await startGateway({
      env: {
        OTEL_TRACES_SAMPLER: 'always_on',
        OTEL_EXPORTER_OTLP_ENDPOINT: url,
        OTEL_BSP_SCHEDULE_DELAY: '20',
        OTEL_BSP_MAX_QUEUE_SIZE: String(QUEUE),
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10',
        ...more,
      },
    });
    await gateway.route({ name: 'orders' });
    await gateway.settled();
    return gateway;
  }

  const count = async ({ dataPlanes }: Gateway, series: string) => {
    const text = await (await fetch(`${dataPlanes[0]?.adminUrl}/metrics`)).text();
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.split(' ')[1],
    );
  };

  it('are bounded and counted, and requests and the stop do not notice', async () => {
    receiver = await startOtlpReceiver();
    receiver.answer = 'never';
    const one = await start(receiver.url);
    const statuses = new Set<number>();
    for (let sent = 0; sent < REQUESTS; sent += 1) {
      statuses.add((await one.admin.proxy('orders')).status);
    }
    expect(statuses).toEqual(new Set([200]));
    await eventually(async () => {
      const dropped = await count(one, 'gateway_spans_dropped_total{reason="queue_full"}');
      // Each request has two spans. Ten are being sent.
      expect(dropped).toBeGreaterThanOrEqual(2 * REQUESTS - QUEUE - 10);
    });
    expect(await count(one, 'gateway_spans_exported_total')).toBe(0);
    const startedMs = performance.now();
    await one.dataPlanes[0]?.stop();
    // DRAIN_GRACE_MS, then two seconds for the spans.
    expect(performance.now() - startedMs).toBeLessThan(6000);
  }, 60_000);

  it('are counted as failed if it cannot be reached', async () => {
    const one = await start(`http://127.0.0.1:${await closedPort()}`, {
      OTEL_EXPORTER_OTLP_TIMEOUT: '200',
    });
    expect((await one.admin.proxy('orders')).status).toBe(200);
    await eventually(async () => {
      const failed = await count(one, 'gateway_spans_dropped_total{reason="export_failed"}');
      expect(failed).toBeGreaterThanOrEqual(2);
    });
  }, 60_000);

  it('are exported when the process stops', async () => {
    receiver = await startOtlpReceiver();
    const one = await start(receiver.url, { OTEL_BSP_SCHEDULE_DELAY: '3600000' });
    const answer = await one.admin.proxy('orders');
    await one.dataPlanes[0]?.stop();
    const ids = receiver.spans.map(({ attributes }) => attributes['gateway.request.id']);
    expect(ids).toContain(answer.headers.get('x-request-id'));
  }, 60_000);
});
