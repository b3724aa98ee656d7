import { z } from 'zod';
import { upstreamProtocolField, websocketProtocolField } from '../definitions/service-protocol.ts';

/* How the request would be forwarded: to which upstreams, with what changed, and in what time. */

const HEALTH = ['unknown', 'healthy', 'unhealthy', 'ejected', 'half_open'] as const;

export const upstreamSchema = z.object({
  id: z.string().meta({
    description: 'The id of the upstream.',
    examples: ['ups_01kb5zv4x8n3m6q9r2t7w0y1z4'],
  }),
  url: z.string().meta({ description: 'Its URL.', examples: ['https://orders.internal'] }),
  region: z
    .string()
    .nullable()
    .meta({
      description: 'Its region. null: it counts as the region of every data plane.',
      examples: ['eu-west'],
    }),
  protocol: upstreamProtocolField.meta({
    description: 'The `protocol` of its service.',
    examples: ['http2'],
  }),
  websocket_protocol: websocketProtocolField.meta({
    description: 'The `websocket_protocol` of its service.',
    examples: ['http2'],
  }),
  health: z
    .enum(HEALTH)
    .meta({ description: 'Its health, as this data plane sees it.', examples: ['healthy'] }),
  in_flight: z
    .int()
    .meta({ description: 'Requests of this data plane in flight at it.', examples: [3] }),
  weight: z
    .number()
    .meta({ description: 'Its weight now. It rises in slow start.', examples: [1] }),
  picked_first: z
    .boolean()
    .meta({ description: 'Whether the first attempt may go to it.', examples: [true] }),
  reason: z.string().meta({
    description: 'Why it is or is not picked first.',
    examples: ['Healthy, in the region eu-west of this data plane. Picked first.'],
  }),
});

const rewrittenNames = z.array(z.string().meta({ description: 'A name.', examples: ['X-Debug'] }));

const rewrittenValues = z.array(
  z.object({
    name: z.string().meta({ description: 'The name.', examples: ['X-Tenant'] }),
    value: z
      .string()
      .nullable()
      .meta({ description: 'The value. null: it has variables.', examples: ['acme'] }),
  }),
);

const rewrittenFields = z.object({
  set: rewrittenValues.meta({ description: 'Those that are set.' }),
  add: rewrittenValues.meta({ description: 'Those that are added.' }),
  remove: rewrittenNames.meta({ description: 'Those that are removed.' }),
});

export const rewriteSchema = z.object({
  path: z.string().meta({
    description: 'The path that the upstream gets. It follows the path of the URL of the upstream.',
    examples: ['/v3/orders'],
  }),
  host: z
    .string()
    .nullable()
    .meta({
      description: 'The `Host` that the upstream gets. null: that of its URL.',
      examples: ['api.example.com'],
    }),
  query: rewrittenFields
    .omit({ add: true })
    .meta({ description: 'The parameters of the query that are changed.' }),
  request_headers: rewrittenFields.meta({
    description: 'The header fields of the request that are changed.',
  }),
  response_headers: rewrittenFields.meta({
    description: 'The header fields of the response that are changed.',
  }),
});

export const locationsSchema = z.object({
  caller_prefix: z.string().meta({
    description:
      'What stands before a path of the service in the URLs of the caller, without what a trusted proxy puts before it. Empty: nothing.',
    examples: ['/v1/proxy/charges'],
  }),
  service_paths: z
    .array(z.string().meta({ description: 'A path. Empty: every path.', examples: ['/base'] }))
    .meta({
      description: 'The paths of the upstreams of the service, which it takes the place of.',
    }),
  only_cookies: z.boolean().meta({
    description:
      'Whether only cookies are mapped, because `rewrite.path` gives the upstream one path whatever the caller asks for.',
    examples: [false],
  }),
});

export const timeoutsSchema = z.object({
  timeout_ms: z.int().meta({
    description:
      'The deadline for the head of the response, retries included, without the time in which the gateway waits for the body of the request.',
    examples: [10_000],
  }),
  caller_timeout_ms: z
    .number()
    .nullable()
    .default(null)
    .meta({
      description:
        'How long the caller of a gRPC call gives it, by `grpc-timeout`. The deadline is the earlier one of both. null: the caller does not say, or the data plane is of a release that does not read it.',
      examples: [null, 5000],
    }),
  streaming: z
    .boolean()
    .default(false)
    .meta({
      description:
        'Whether the request is a stream: `timeout_ms` then ends when it is sent to an upstream, `max_upload_ms` and `min_upload_bytes_per_second` apply only to a body that is read whole for its idempotency key, and `body_idle_timeout_ms` bounds the silence in both directions together.',
      examples: [false],
    }),
  max_message_bytes: z
    .int()
    .nullable()
    .default(null)
    .meta({
      description:
        'The largest message of the body. null: the body has no messages that are bounded, so `max_body_bytes` bounds all of it.',
      examples: [null, 4_194_304],
    }),
  per_attempt_timeout_ms: z
    .int()
    .nullable()
    .meta({
      description: 'The deadline of one attempt. null: an attempt may take all the time left.',
      examples: [2000],
    }),
  connect_timeout_ms: z.int().meta({ description: 'For a new connection.', examples: [2000] }),
  max_upload_ms: z
    .int()
    .nullable()
    .default(null)
    .meta({
      description:
        'How long the gateway waits in all for the body of the request. null: the data plane is of a release in which `timeout_ms` counts that wait.',
      examples: [3_600_000],
    }),
  min_upload_bytes_per_second: z
    .int()
    .nullable()
    .default(null)
    .meta({
      description:
        'How fast the caller must send the body, measured over 30 s of that wait. 0: no minimum. null: as for `max_upload_ms`.',
      examples: [1024],
    }),
  body_idle_timeout_ms: z.int().meta({
    description:
      'How long nothing may arrive of a body: that of the route, or `BODY_IDLE_TIMEOUT_MS` of the data plane.',
    examples: [60_000],
  }),
});
