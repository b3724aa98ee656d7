import { z } from 'zod';

/** The stages of a request, in the order in which they run. */
export const EXPLAINED_STAGES = [
  'admit',
  'resolve_route',
  'authenticate',
  'authorize',
  'pick_version',
  'require_credential',
  'bulkhead',
  'quota',
  'max_forwards',
  'idempotency',
  'forward',
] as const;

export type ExplainedStage = (typeof EXPLAINED_STAGES)[number];

/** What one stage would do to the request. */
export const STAGE_DECISIONS = [
  'continue',
  'answer',
  'refuse',
  'wait',
  'forward',
  'not_reached',
] as const;

export type StageDecision = (typeof STAGE_DECISIONS)[number];

const decisionField = z.enum(STAGE_DECISIONS).meta({
  description:
    '`answer`: the gateway answers itself. `wait`: the request waits for something whose end is not known. `not_reached`: an earlier stage ends the request.',
});

const stageSchema = z.object({
  name: z.enum(EXPLAINED_STAGES),
  decision: decisionField,
  reason: z.string(),
});

const outcomeSchema = z.object({
  decision: decisionField.extract(['answer', 'refuse', 'wait', 'forward']),
  stage: z.enum(EXPLAINED_STAGES).meta({ description: 'The stage that decides.' }),
  status: z.int().nullable().meta({
    description: 'The status of the response; null: the upstream or another request decides it.',
  }),
  code: z.string().nullable().meta({ description: 'The error code of a refusal.' }),
  reason: z.string(),
  retry_after_seconds: z.int().nullable(),
});

const authenticationSchema = z.object({
  type: z.string().nullable().meta({ description: 'As the route requires; null: no such route.' }),
  token_id: z.string().nullable().meta({ description: 'The token that was found.' }),
  refused_by: z.string().nullable().meta({
    description:
      'The rule that refuses the caller, in more detail than the response to it: `no_credential`, `two_tokens`, `no_token_in_credential`, `token_unknown`, `token_in_other_header`, `token_expired`, `jwt_refused`, `scope_missing`, `environment_not_covered` or `route_not_covered`.',
  }),
  failures_remaining: z.int().meta({
    description: 'Failed authentications that the address may still make in this minute.',
  }),
});

const versionSchema = z.object({
  name: z.string().nullable().meta({ description: 'null: the route names a service.' }),
  service_id: z.string(),
  service: z.string(),
});

const quotaSchema = z.object({
  limit: z.int(),
  window_seconds: z.number(),
  per: z.enum(['route', 'token', 'ip']),
  granted: z.int().nullable().meta({
    description: 'Granted or leased to all data planes in the window; null: not known now.',
  }),
  leased: z.int().meta({ description: 'Leased by this data plane and not used.' }),
  remaining: z
    .int()
    .meta({ description: 'What the response would show in X-RateLimit-Remaining.' }),
  reset_seconds: z.int(),
});

const idempotencySchema = z.object({
  state: z
    .enum([
      'no_key',
      'free',
      'in_flight',
      'stored',
      'conflict',
      'outcome_unknown',
      'response_unreadable',
      'unavailable',
    ])
    .meta({ description: 'The state of the key. `in_flight`: its first request has not ended.' }),
  first_request_id: z.string().nullable(),
});

const upstreamSchema = z.object({
  id: z.string(),
  url: z.string(),
  region: z.string().nullable(),
  health: z.enum(['unknown', 'healthy', 'unhealthy', 'ejected', 'half_open']),
  in_flight: z.int().meta({ description: 'Requests of this data plane.' }),
  weight: z.number().meta({ description: 'As it counts now; it rises in slow start.' }),
  picked_first: z.boolean().meta({ description: 'Whether the first attempt may go to it.' }),
  reason: z.string(),
});

const timeoutsSchema = z.object({
  timeout_ms: z.int(),
  per_attempt_timeout_ms: z.int().nullable(),
  connect_timeout_ms: z.int(),
  body_idle_timeout_ms: z.int(),
});

/** What would happen to a request on one data plane. Contains no header value, body or query. */
export const explanationSchema = z.object({
  data_plane: z.string(),
  region: z.string(),
  environment: z.string().nullable().meta({ description: 'null: the data plane serves no such.' }),
  config_version: z.int().nullable(),
  route_id: z.string().nullable().meta({ description: 'The route that the request reaches.' }),
  outcome: outcomeSchema,
  stages: z.array(stageSchema),
  authentication: authenticationSchema,
  version: versionSchema.nullable(),
  quota: quotaSchema.nullable(),
  idempotency: idempotencySchema.nullable(),
  upstreams: z.array(upstreamSchema).nullable().meta({ description: 'The best first.' }),
  retry_policy: z.string().nullable(),
  timeouts: timeoutsSchema.nullable(),
  request_headers: z.array(z.string()).nullable().meta({
    description: 'The names of the headers that the upstream would get, in alphabetical order.',
  }),
});

export type Explanation = z.infer<typeof explanationSchema>;
export type ExplainedOutcome = z.infer<typeof outcomeSchema>;
export type ExplainedUpstream = z.infer<typeof upstreamSchema>;
