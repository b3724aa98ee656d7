import { z } from 'zod';
import { attemptSchema, grpcStatusField } from './attempt.ts';
import { MAX_RECORDED_HEADER_NAMES, MAX_RECORDED_UPSTREAM_ID_CHARS } from './record-bounds.ts';
import { SINCE, timingSchema, waitsSchema } from './record-times.ts';

/** The outcome of a request. */
export const OUTCOMES = [
  'success',
  'upstream_error',
  'upstream_unavailable',
  'timeout',
  'rejected',
  'client_aborted',
] as const;

export type Outcome = (typeof OUTCOMES)[number];

/**
 * What a record is of. `request`: a request of a caller; each has one record. `preflight`: a question of a browser (CORS)
 * that the gateway answered. `mirror`: a copy of a request. Lists and statistics speak of requests unless another kind is
 * asked for.
 */
export const RECORD_KINDS = ['request', 'preflight', 'mirror'] as const;

export type RecordKind = (typeof RECORD_KINDS)[number];

/** The fields of a route that can take part in a request, by the names that its record gives them. */
export const RECORDED_POLICIES = [
  'rewrite',
  'locations',
  'respond',
  'redirect',
  'cors',
  'affinity',
  'mirror',
] as const;

export type RecordedPolicy = (typeof RECORDED_POLICIES)[number];

/** Ids for the examples of the OpenAPI document. */
const EXAMPLE = {
  request: 'req_01k2m8v4zj5r7c9e1g3p6t8w0x',
  upstream: 'ups_01k2m8v4zj5r7c9e1g3p6t8w0x',
  service: 'svc_01k2m8v4zj5r7c9e1g3p6t8w0x',
  token: 'tok_01k2m8v4zj5r7c9e1g3p6t8w0x',
};

const recordedClaimSchema = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);

/**
 * The record of one proxied request. Of the header fields it contains the names, and the values of `Host` and of the
 * request ids; it contains no body and no query value.
 */
export const requestRecordSchema = z.object({
  id: z.string().meta({ description: 'The id of the request.', examples: [EXAMPLE.request] }),
  environment: z
    .string()
    .nullable()
    .meta({
      description: 'The environment. null: the request was refused before it was known.',
      examples: ['production'],
    }),
  route: z
    .string()
    .nullable()
    .meta({
      description: 'The name in the path, even if no such route exists. null: the path has none.',
      examples: ['charges'],
    }),
  route_version: z
    .string()
    .nullable()
    .meta({
      description: 'The version of the route. null: it has no versions, or none was chosen.',
      examples: ['stable'],
    }),
  service_id: z
    .string()
    .nullable()
    .meta({
      description: 'The service. null: none was chosen.',
      examples: [EXAMPLE.service],
    }),
  method: z.string().meta({ description: 'The method.', examples: ['POST'] }),
  path: z.string().meta({
    description: 'The path without the query, cut at 1024 characters.',
    examples: ['/v1/proxy/charges'],
  }),
  status: z
    .int()
    .nullable()
    .meta({
      description:
        'The status of the response. null: the client disconnected, or the gateway ended the request, before it began.',
      examples: [201],
    }),
  outcome: z.enum(OUTCOMES).meta({ description: 'How the request ended.', examples: ['success'] }),
  error_code: z
    .string()
    .nullable()
    .meta({
      description:
        'The code of the error that the gateway answered, or for which it ended the response. null: there is none.',
      examples: [null],
    }),
  error_stage: z
    .string()
    .nullable()
    .meta({
      description:
        'The stage that refused the request with that error, or in which it was ended, with the name that an explanation gives it. `forward`: ' +
        'the request was to be sent. null: there is no error, or the record is of a gateway before this field existed.',
      examples: [null],
    }),
  /** Milliseconds since the Unix epoch, the same as in the id. */
  received_at_ms: z.int(),
  timing: timingSchema.meta({
    description: 'Where the time went. Each instant belongs to one of the states.',
  }),
  waits: waitsSchema.nullable().meta({
    description: `What it waited for within the gateway, ms. null: nothing. ${SINCE}`,
  }),
  upstream: z
    .object({
      id: z.string().meta({ description: 'The id of the upstream.', examples: [EXAMPLE.upstream] }),
      url: z.string().meta({
        description: 'Its URL.',
        examples: ['https://payments.internal:8443'],
      }),
      region: z
        .string()
        .nullable()
        .meta({ description: 'Its region. null: none.', examples: ['eu-west'] }),
    })
    .nullable()
    .meta({ description: 'The upstream of the last attempt. null: there was no attempt.' }),
  retry_count: z.int().meta({ description: 'The number of retries.', examples: [0] }),
  attempts: z.array(attemptSchema).meta({ description: 'Each attempt, in order.' }),
  rate_limit: z
    .object({
      limit: z.int().meta({ description: 'The limit of the window.', examples: [1000] }),
      remaining: z.int().meta({ description: 'The requests left in the window.', examples: [999] }),
      reset_seconds: z
        .int()
        .meta({ description: 'The seconds until the window ends.', examples: [42] }),
    })
    .nullable()
    .meta({ description: 'The quota after this request. null: none was counted.' }),
  idempotency: z
    .string()
    .nullable()
    .meta({
      description: 'What the idempotency key did to this request. null: it had none.',
      examples: [null],
    }),
  token_id: z
    .string()
    .nullable()
    .meta({
      description: 'The token of the caller. null: there was none, or it was refused.',
      examples: [EXAMPLE.token],
    }),
  subject: z
    .string()
    .nullable()
    .meta({
      description:
        'The claim `sub` of the JWT of the caller. null: there was none, or it was refused.',
      examples: [null],
    }),
  claims: z
    .record(z.string(), recordedClaimSchema)
    .nullable()
    .meta({
      description: 'The claims `iss` and `aud` of that JWT, and those that the route requires.',
      examples: [null],
    }),
  client_ip: z
    .string()
    .meta({ description: 'The address of the caller.', examples: ['203.0.113.7'] }),
  client_request_id: z
    .string()
    .nullable()
    .meta({
      description: 'The `X-Request-Id` that the caller sent. null: none.',
      examples: [null],
    }),
  request_bytes: z.int().meta({ description: 'The bytes of the request body.', examples: [212] }),
  response_bytes: z.int().meta({ description: 'The bytes of the response body.', examples: [96] }),
  data_plane: z.string().meta({
    description: 'The id of the data plane that served the request.',
    examples: ['dp-7f9c-1'],
  }),
  config_version: z
    .int()
    .nullable()
    .meta({
      description: 'The version of the configuration that it used. null: none was loaded.',
      examples: [42],
    }),
  trace_id: z.string().meta({
    description: 'The trace id of the W3C trace context.',
    examples: ['4bf92f3577b34da6a3ce929d0e0e4736'],
  }),
  header_names: z
    .array(z.string())
    .nullable()
    .meta({
      description: `The names of the header fields of the request, in lower case; the first ${MAX_RECORDED_HEADER_NAMES}. ${SINCE}`,
      examples: [['host', 'user-agent', 'accept']],
    }),
  host: z
    .string()
    .nullable()
    .meta({
      description: `The host and port that the caller asked for. null: none, or not a valid one. ${SINCE}`,
      examples: ['gateway.example.com'],
    }),
  request_content_length: z
    .int()
    .nullable()
    .meta({
      description: `The Content-Length of the request. null: it announced no body, or no length. ${SINCE}`,
      examples: [212],
    }),
  kind: z.string().meta({
    description:
      'What the record is of. `request`: a request of a caller. `preflight`: a question of a browser that the gateway answered. `mirror`: a copy of a request.',
    examples: ['request'],
  }),
  match: z
    .string()
    .nullable()
    .meta({
      description:
        'The way by host and path that led to the route. null: the path names it, or there is none.',
      examples: ['api.example.com/v2/payments/*'],
    }),
  caller_id: z
    .string()
    .nullable()
    .meta({ description: 'The registered caller. null: none.', examples: [null] }),
  would_refuse: z
    .string()
    .nullable()
    .meta({
      description: 'The code with which an observed policy would have refused it. null: none.',
      examples: [null],
    }),
  units: z
    .number()
    .nullable()
    .meta({ description: 'The units that it used. null: none were counted.', examples: [null] }),
  upstream_request_id: z
    .string()
    .nullable()
    .meta({
      description: `The \`X-Request-Id\` of the upstream's response, cut at ${MAX_RECORDED_UPSTREAM_ID_CHARS} characters. null: it sent none, or none of visible ASCII. ${SINCE}`,
      examples: ['f058ebd6-02f7-4d3f-942e-904344e8cde5'],
    }),
  parent_id: z
    .string()
    .nullable()
    .meta({
      description: 'The id of the request of which it is a copy. null: it is none.',
      examples: [null],
    }),
  policies: z
    .array(z.string())
    .nullable()
    .meta({
      description: `The fields of the route that took part: of ${RECORDED_POLICIES.join(', ')}. null: none of them.`,
      examples: [null],
    }),
  grpc_status: grpcStatusField.nullable().meta({
    description: `The gRPC status, 0 to 16, with which a gRPC call ended. A response of status 200 without a valid one counts as 2 (UNKNOWN), as gRPC clients report it. null: no gRPC call, or no status came. ${SINCE}`,
    examples: [null],
  }),
});

export type RequestRecord = z.infer<typeof requestRecordSchema>;
/** A string, number, boolean or list of strings as it is; any other value, and a long one, as JSON text. */
export type RecordedClaim = z.infer<typeof recordedClaimSchema>;
