import type { SnapshotService } from '@gateway/shared/snapshot/schema';
import { z } from 'zod';
import { timeView } from '../fields/response-fields.ts';
import { ANSWER_PROBLEMS, type DataPlaneResult } from './ask-for-tests.ts';
import type { ChosenDataPlanes } from './choose-data-planes.ts';
import { problemText, resultText } from './result-text.ts';

const testedUpstreamView = z.object({
  url: z.string().meta({
    description: 'The URL of the upstream.',
    examples: ['https://payments.internal:8443'],
  }),
  region: z
    .string()
    .nullable()
    .meta({ description: 'The region of the upstream.', examples: ['eu-west'] }),
  outcome: z.enum(['healthy', 'unhealthy', 'failed']).meta({
    description:
      '`healthy`: it answered as a health check expects. `unhealthy`: it answered, but health checks fail. `failed`: it did not answer.',
    examples: ['healthy'],
  }),
  message: z.string().meta({
    description: 'What the data plane saw, in a sentence.',
    examples: ['Reached in 12 ms over HTTP/2 with TLS 1.3. GET /healthz answered 204.'],
  }),
  detail: z.string().meta({
    description: 'The status, or the error of the attempt as in request records.',
    examples: ['status_204'],
  }),
  tls_error: z
    .string()
    .nullable()
    .meta({
      description: 'The code of a failed TLS handshake. null: there is none.',
      examples: ['CERT_HAS_EXPIRED'],
    }),
  protocol: z
    .enum(['http1', 'http2'])
    .nullable()
    .meta({ description: 'The version of HTTP. null: no connection.', examples: ['http2'] }),
  tls_version: z
    .string()
    .nullable()
    .meta({ description: 'The version of TLS. null: none.', examples: ['TLSv1.3'] }),
  certificate_ends_at: timeView.nullable().meta({
    description: 'When the certificate of the upstream ends. null: not known, or no TLS.',
    examples: ['2027-03-01T09:30:00.000Z'],
  }),
  connect_ms: z
    .number()
    .nullable()
    .meta({
      description:
        'The time for the name, the connection and the TLS handshake, ms. null: no connection.',
      examples: [12.4],
    }),
  duration_ms: z
    .number()
    .meta({ description: 'The time of the whole test, ms.', examples: [15.1] }),
});

const testingDataPlaneView = z.object({
  id: z.string().meta({ description: 'The id of the data plane.', examples: ['data-plane-1'] }),
  region: z.string().meta({ description: 'Its region.', examples: ['eu-west'] }),
  problem: z
    .enum(ANSWER_PROBLEMS)
    .nullable()
    .meta({ description: 'Why it tested nothing. null: it did.', examples: [null] }),
  message: z
    .string()
    .nullable()
    .meta({ description: 'The same, in a sentence.', examples: [null] }),
  upstreams: z
    .array(testedUpstreamView)
    .meta({ description: 'What it saw of each upstream, in the order of the service.' }),
});

/** The schema of `connectionTestView`. */
export const connectionTestViewSchema = z
  .object({
    environment: z.string().meta({ description: 'The environment.', examples: ['production'] }),
    request: z.string().meta({
      description: 'What each upstream was asked, which is what health checks ask.',
      examples: ['GET /healthz'],
    }),
    data_planes: z
      .array(testingDataPlaneView)
      .meta({ description: 'What each data plane saw that was asked.' }),
    unasked_data_planes: z.int().meta({
      description: 'How many other live data planes serve the environment.',
      examples: [0],
    }),
  })
  .meta({ id: 'ConnectionTest', description: 'Whether data planes reach the upstreams.' });

export type ConnectionTestView = z.output<typeof connectionTestViewSchema>;

/** What data planes saw, as the API shows it. */
export function connectionTestView(
  environment: string,
  service: SnapshotService,
  { unasked }: ChosenDataPlanes,
  results: readonly DataPlaneResult[],
): ConnectionTestView {
  const request = requestOf(service);
  const serverName = service.tls?.server_name ?? null;
  return {
    environment,
    request,
    data_planes: results.map(({ dataPlane: { heartbeat }, upstreams, problem }) => {
      const seen = new Map(upstreams.map((one) => [one.id, one]));
      return {
        id: heartbeat.id,
        region: heartbeat.region,
        problem,
        message: problem === null ? null : problemText(problem, heartbeat.gateway_version),
        upstreams: service.upstreams.flatMap(({ id, url, region }) => {
          const result = seen.get(id);
          if (result === undefined) return [];
          const { id: _id, certificate_ends_ms: endsMs, ...shown } = result;
          const message = resultText(result, { url, serverName, request });
          return [{ url, region, ...shown, message, certificate_ends_at: timeOf(endsMs) }];
        }),
      };
    }),
    unasked_data_planes: unasked,
  };
}

/** What a health check of the service asks. */
function requestOf({ health_check: check }: SnapshotService): string {
  return check.type === 'grpc' ? 'grpc.health.v1.Health/Check' : `GET ${check.path}`;
}

function timeOf(ms: number | null): string | null {
  const time = new Date(ms ?? NaN);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}
