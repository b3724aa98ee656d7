import { z } from 'zod';
import { upstreamProtocolField, websocketProtocolField } from '../definitions/service-protocol.ts';

export const reachedBySchema = z.object({
  environment: z
    .string()
    .nullable()
    .meta({ description: 'The environment of that route.', examples: ['production'] }),
  route: z
    .string()
    .nullable()
    .meta({
      description:
        'The name of the route that gets the request. null: none, or one that the token of the call does not cover.',
      examples: ['orders'],
    }),
  way: z
    .object({
      hosts: z.array(z.string()).meta({ description: 'Its host. Empty: every host.' }),
      paths: z
        .array(
          z.object({
            exact: z
              .string()
              .optional()
              .meta({ description: 'The whole path.', examples: ['/status'] }),
            prefix: z
              .string()
              .optional()
              .meta({ description: 'The first segments of the path.', examples: ['/v2/orders'] }),
          }),
        )
        .meta({ description: 'Its path.' }),
      headers: z
        .array(
          z.object({
            name: z
              .string()
              .meta({ description: 'The name of the header.', examples: ['x-api-version'] }),
            value: z.string().meta({ description: 'Its whole value.', examples: ['2'] }),
          }),
        )
        .meta({ description: 'Its headers.' }),
    })
    .nullable()
    .meta({
      description:
        'The way that the request takes, one host and one path of `match` of that route.',
      examples: [{ hosts: ['api.example.com'], paths: [{ prefix: '/v2/orders' }], headers: [] }],
    }),
  reason: z.string().meta({
    description: 'Why.',
    examples: ['The request takes this way, the most specific one that takes it.'],
  }),
});

export const versionSchema = z.object({
  name: z
    .string()
    .nullable()
    .meta({
      description: 'The version of the route. null: the route names a service.',
      examples: ['v2'],
    }),
  service_id: z.string().meta({
    description: 'The service of the version.',
    examples: ['svc_01kb5zv4x8n3m6q9r2t7w0y1z4'],
  }),
  service: z.string().meta({ description: 'The name of that service.', examples: ['orders'] }),
});

export const quotaSchema = z.object({
  limit: z.int().meta({ description: 'Requests in each window.', examples: [60_000] }),
  window_seconds: z.number().meta({ description: 'The length of a window.', examples: [60] }),
  per: z
    .enum(['route', 'token', 'ip'])
    .meta({ description: 'What has a quota of its own.', examples: ['route'] }),
  granted: z
    .int()
    .nullable()
    .meta({
      description:
        'Granted or leased to all data planes in the window. null: not known, because NATS is away.',
      examples: [1200],
    }),
  leased: z.int().meta({ description: 'Leased by this data plane and not used.', examples: [180] }),
  remaining: z.int().meta({
    description: 'What the response would show in `X-RateLimit-Remaining`.',
    examples: [58_979],
  }),
  reset_seconds: z.int().meta({ description: 'Seconds until the window ends.', examples: [17] }),
});

export const corsSchema = z.object({
  origin_allowed: z.boolean().meta({
    description: 'Whether pages of the origin may read responses and open WebSockets.',
    examples: [true],
  }),
  allowed_by: z
    .string()
    .nullable()
    .meta({
      description: 'The item of `cors.origins` that covers the origin. null: none does.',
      examples: ['https://*.example.com'],
    }),
  methods: z
    .array(z.string())
    .meta({ description: 'The methods that pages may use.', examples: [['GET', 'POST']] }),
  headers: z.array(z.string()).meta({
    description: 'The headers that pages may send, in lower case. `*`: every header.',
    examples: [['authorization', 'content-type']],
  }),
  expose: z.array(z.string()).meta({
    description: 'The headers of responses that pages may read. `*`: every header.',
    examples: [['x-request-id', 'retry-after']],
  }),
  credentials: z
    .boolean()
    .meta({ description: 'Whether pages may send cookies.', examples: [false] }),
  max_age_s: z
    .int()
    .meta({ description: 'Seconds for which a browser keeps a preflight.', examples: [600] }),
  reason: z.string().meta({
    description: 'Why.',
    examples: ['The item https://*.example.com of `cors.origins` covers the origin.'],
  }),
});

const KEY_STATES = [
  'no_key',
  'free',
  'repeatable',
  'in_flight',
  'stored',
  'conflict',
  'outcome_unknown',
  'response_unreadable',
  'unavailable',
  'passed_on',
] as const;

export const idempotencySchema = z.object({
  state: z.enum(KEY_STATES).meta({
    description:
      'The state of the key. `in_flight`: its first request has not ended. `repeatable`: the same request runs again, because the last one was answered with a status of `idempotency.repeatable_statuses`. `unavailable`: the store of keys cannot be reached. `passed_on`: the route leaves keys to the upstream.',
    examples: ['stored'],
  }),
  first_request_id: z
    .string()
    .nullable()
    .meta({
      description: 'The request that has claimed the key.',
      examples: ['req_01kb5zv4x8n3m6q9r2t7w0y1z4'],
    }),
});

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
