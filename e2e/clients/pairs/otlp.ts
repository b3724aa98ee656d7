import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { parseEnvironment } from '@gateway/shared/config/environment';
import { createOtlpSender } from '@gateway/shared/opentelemetry/otlp-sender';
import { otlpVariables } from '@gateway/shared/opentelemetry/otlp-variables';
import type { Span } from '@gateway/shared/opentelemetry/span';
import { outcome, type Pair, type StartedServer, type Target } from '../harness/pair.ts';
import { pinnedVersion } from '../harness/pinned-version.ts';
import { startServer } from '../harness/server.ts';

const SPANS = 100;
const SPAN: Span = {
  name: 'span-of-the-test',
  kind: 'client',
  traceId: 'ab'.repeat(16),
  spanId: 'cd'.repeat(8),
  parentSpanId: undefined,
  startMs: Date.UTC(2030, 0, 1),
  durationMs: 1,
  failed: false,
  attributes: {},
};

/** OpenTelemetry's exporter, with which the gateway sends its own spans, and a receiver that counts them. */
export const otlp: Pair = {
  client: 'OTLP exporter',
  version: pinnedVersion('@opentelemetry/otlp-exporter-base', 'packages/shared'),
  start,
  direct: {
    'batch of spans, compressed': `${SPANS} spans`,
    '503, then 200': 'delivered, 2 requests',
  },
  otherwise: {},
};

async function start(): Promise<StartedServer> {
  let spans = 0;
  let busy = 0;
  const server = await startServer(({ path, body }, response) => {
    response.setHeader('content-type', 'application/x-protobuf');
    if (path.startsWith('/busy/')) {
      busy += 1;
      if (busy === 1) response.writeHead(503, { 'retry-after': '1' });
    } else spans += gunzipSync(body).toString('latin1').split(SPAN.name).length - 1;
    response.end();
  });
  return {
    urls: [server.url],
    close: () => server.close(),
    async use(target) {
      return {
        'batch of spans, compressed': await outcome(async () => {
          await send(target, '', SPANS);
          return `${spans} spans`;
        }),
        '503, then 200': await outcome(async () => {
          await send(target, '/busy', 1);
          return `delivered, ${busy} requests`;
        }),
      };
    },
  };
}

function send({ url, token }: Target, path: string, count: number): Promise<unknown> {
  const settings = parseEnvironment(z.object(otlpVariables), {
    OTEL_EXPORTER_OTLP_ENDPOINT: url + path,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${token}`,
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
  });
  return createOtlpSender(settings, {}).sendSpans(Array.from({ length: count }, () => SPAN));
}
