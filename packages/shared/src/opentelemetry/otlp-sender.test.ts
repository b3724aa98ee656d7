import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { z } from 'zod';
import { startOtlpReceiver } from '../../test/otlp-receiver.ts';
import { closeAfterEach } from '../../test/opened.ts';
import { parseEnvironment } from '../config/environment.ts';
import { Instruments } from '../telemetry/instruments.ts';
import { createOtlpSender } from './otlp-sender.ts';
import { otlpVariables } from './otlp-variables.ts';
import type { Span } from './span.ts';
import type { PrometheusMetric } from './to-metric-data.ts';

const opened = closeAfterEach();

async function setUp() {
  const receiver = opened(await startOtlpReceiver());
  const settings = parseEnvironment(z.object(otlpVariables), {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/`,
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
  });
  return { receiver, sender: createOtlpSender(settings, { 'service.name': 'test' }) };
}

const span: Span = {
  name: 'GET /a',
  kind: 'client',
  traceId: 'ab'.repeat(16),
  spanId: 'cd'.repeat(8),
  parentSpanId: 'ef'.repeat(8),
  startMs: Date.UTC(2030, 0, 1) + 0.25,
  durationMs: 1.5,
  failed: true,
  attributes: { text: 'ä', number: 7, fraction: 0.5, nothing: undefined },
};

describe('spans over OTLP', () => {
  it('arrive as they are; attributes without a value are left out', async () => {
    const { receiver, sender } = await setUp();
    await sender.sendSpans([span]);
    expect(receiver.spans).toEqual([
      {
        name: 'GET /a',
        kind: 3,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId,
        startMs: expect.closeTo(span.startMs, 3),
        endMs: expect.closeTo(span.startMs + 1.5, 3),
        status: 2,
        attributes: { text: 'ä', number: 7, fraction: 0.5 },
        resource: { 'service.name': 'test' },
      },
    ]);
  });

  it('can be sent in one batch after the other without a pause', async () => {
    const { receiver, sender } = await setUp();
    for (let batch = 0; batch < 5; batch += 1) await sender.sendSpans([span]);
    expect(receiver.spans).toHaveLength(5);
  });

  it('are rejected if the receiver refuses them or does not answer in time', async () => {
    const { receiver, sender } = await setUp();
    receiver.answer = 'refuse';
    await expect(sender.sendSpans([span])).rejects.toThrow('Bad Request');
    receiver.answer = 'never';
    await expect(sender.sendSpans([span])).rejects.toThrow();
  });
});

/** A response with a partial success in protobuf: the count and the message (fields 1 and 2 of field 1). */
function partialSuccess(count: number, message: string): Uint8Array {
  const text = Buffer.from(message);
  const inner = [0x08, count, 0x12, text.length, ...text];
  return Uint8Array.from([0x0a, inner.length, ...inner]);
}

describe('a partial success', () => {
  it.each([
    ['protobuf', partialSuccess(2, 'too old')],
    ['JSON', { partialSuccess: { rejectedSpans: '2', errorMessage: 'too old' } }],
    ['JSON with a number', { partialSuccess: { rejectedSpans: 2, errorMessage: 'too old' } }],
  ])('of spans says how many were rejected and why: %s', async (_form, response) => {
    const { receiver, sender } = await setUp();
    receiver.response = response;
    expect(await sender.sendSpans([span, span, span])).toEqual({ count: 2, reason: 'too old' });
    receiver.response = undefined;
    expect(await sender.sendSpans([span])).toBeUndefined();
  });

  it.each([
    ['protobuf', partialSuccess(3, '')],
    ['JSON', { partialSuccess: { rejectedDataPoints: '3' } }],
  ])('of metrics too: %s', async (_form, response) => {
    const { receiver, sender } = await setUp();
    receiver.response = response;
    const period = { startMs: 1000, endMs: 2000 };
    expect(await sender.sendMetrics([], period)).toEqual({ count: 3, reason: '' });
  });

  it.each([
    ['with nothing rejected, which is a warning', { partialSuccess: { errorMessage: 'slow' } }],
    ['that is empty', {}],
    ['that is malformed', Uint8Array.from([0x0a, 0x7f])],
    ['that is no JSON', Uint8Array.from([0x7b, 0x7b])],
  ])('%s loses nothing', async (_case, response) => {
    const { receiver, sender } = await setUp();
    receiver.response = response;
    expect(await sender.sendSpans([span])).toBeUndefined();
  });
});

describe('metrics over OTLP', () => {
  it('have the names and units of OpenTelemetry, and the values of the registry', async () => {
    const { receiver, sender } = await setUp();
    const registry = new Registry();
    const instruments = new Instruments(registry);
    instruments.counter('sent_total', 'Messages sent.', ['to']).inc({ to: 'a' }, 3);
    instruments.counter('read_bytes_total', 'Bytes read.').inc(10);
    instruments.gauge('open_handles_total', 'Open handles.').set(2);
    const wait = instruments.histogram('wait_seconds', 'Wait.', [0.1, 1], ['queue']);
    for (const seconds of [0.05, 0.5, 0.75, 7]) wait.observe({ queue: 'a' }, seconds);
    wait.observe({ queue: 'b' }, 0.1);
    await sender.sendMetrics((await registry.getMetricsAsJSON()) as unknown as PrometheusMetric[], {
      startMs: 1000,
      endMs: 2000,
    });
    const resource = { 'service.name': 'test' };
    expect(receiver.metrics).toEqual([
      {
        name: 'sent',
        unit: '',
        description: 'Messages sent.',
        kind: 'sum',
        points: [{ attributes: { to: 'a' }, value: 3 }],
        resource,
      },
      {
        name: 'read',
        unit: 'By',
        description: 'Bytes read.',
        kind: 'sum',
        points: [{ attributes: {}, value: 10 }],
        resource,
      },
      {
        name: 'open_handles_total',
        unit: '',
        description: 'Open handles.',
        kind: 'gauge',
        points: [{ attributes: {}, value: 2 }],
        resource,
      },
      {
        name: 'wait',
        unit: 's',
        description: 'Wait.',
        kind: 'histogram',
        points: [
          {
            attributes: { queue: 'a' },
            count: 4,
            sum: 8.3,
            bounds: [0.1, 1],
            counts: [1, 2, 1],
          },
          { attributes: { queue: 'b' }, count: 1, sum: 0.1, bounds: [0.1, 1], counts: [1, 0, 0] },
        ],
        resource,
      },
    ]);
  });
});
