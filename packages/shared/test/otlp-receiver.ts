import { createServer, type IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { AddressInfo } from 'node:net';
import {
  decodeMetrics,
  decodeSpans,
  type ReceivedMetric,
  type ReceivedSpan,
} from './decode-otlp.ts';

export interface OtlpReceiver {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string;
  readonly spans: ReceivedSpan[];
  readonly metrics: ReceivedMetric[];
  /** Paths and headers of the requests. */
  readonly requests: { readonly path: string; readonly headers: IncomingMessage['headers'] }[];
  /** All bytes that were received, decompressed. */
  readonly bytes: () => string;
  /** How the next requests are answered. `never`: not at all. */
  answer: 'accept' | 'refuse' | 'never';
  /** The body of the next responses: JSON if it is an object, else a message in protobuf. */
  response: object | Uint8Array | undefined;
  close(): Promise<void>;
}

/** An HTTP server that takes OTLP in protobuf, as a collector does. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const bodies: Buffer[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      const sent = Buffer.concat(chunks);
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
      const path = request.url ?? '';
      receiver.requests.push({ path, headers: request.headers });
      bodies.push(body);
      if (receiver.answer === 'never') return;
      if (receiver.answer === 'refuse') {
        response.writeHead(400).end();
        return;
      }
      if (path === '/v1/traces') receiver.spans.push(...decodeSpans(body));
      if (path === '/v1/metrics') receiver.metrics.push(...decodeMetrics(body));
      const given = receiver.response;
      if (given === undefined || given instanceof Uint8Array) {
        response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end(given);
      } else {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(given));
      }
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const receiver: OtlpReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    metrics: [],
    requests: [],
    bytes: () => Buffer.concat(bodies).toString('latin1'),
    answer: 'accept',
    response: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}
