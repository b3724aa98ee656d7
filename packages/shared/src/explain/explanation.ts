import { z } from 'zod';
import {
  locationsSchema,
  rewriteSchema,
  timeoutsSchema,
  upstreamSchema,
} from './explained-forward.ts';
import { grpcSchema } from './explained-grpc.ts';
import { mirrorSchema } from './explained-mirror.ts';
import { corsSchema, idempotencySchema, quotaSchema } from './explained-policies.ts';
import { reachedBySchema, versionSchema } from './explained-route.ts';

/** The stages of a request, in the order in which they run. */
export const EXPLAINED_STAGES = [
  'admit',
  'resolve_route',
  'preflight',
  'authenticate',
  'authorize',
  'pick_version',
  'require_credential',
  'bulkhead',
  'quota',
  'answer',
  'max_forwards',
  'idempotency',
  'forward',
] as const;

export type ExplainedStage = (typeof EXPLAINED_STAGES)[number];

/** How a request ends. */
const END_DECISIONS = ['answer', 'refuse', 'wait', 'elsewhere', 'forward'] as const;
const STAGE_DECISIONS = ['continue', ...END_DECISIONS, 'not_reached'] as const;

/** What one stage would do to the request. */
export type StageDecision = (typeof STAGE_DECISIONS)[number];

const DECISIONS =
  '`answer`: the gateway answers itself. `wait`: the request waits for something whose end is not known. `elsewhere`: another route gets the request, or none; see `reached_by`.';

const stageSchema = z.object({
  name: z.enum(EXPLAINED_STAGES).meta({ description: 'The stage.', examples: ['authenticate'] }),
  decision: z.enum(STAGE_DECISIONS).meta({
    description: `What the stage does. ${DECISIONS} \`not_reached\`: an earlier stage ends the request.`,
    examples: ['continue'],
  }),
  reason: z.string().meta({
    description: 'Why.',
    examples: ['The token tok_01kb5zv4x8n3m6q9r2t7w0y1z4 is valid, and comes in Authorization.'],
  }),
});

const outcomeSchema = z.object({
  decision: z.enum(END_DECISIONS).meta({
    description: `How the request ends. ${DECISIONS}`,
    examples: ['refuse'],
  }),
  stage: z
    .enum(EXPLAINED_STAGES)
    .meta({ description: 'The stage that decides.', examples: ['quota'] }),
  status: z
    .int()
    .nullable()
    .meta({
      description: 'The status of the response. null: the upstream or another request decides it.',
      examples: [429],
    }),
  code: z
    .string()
    .nullable()
    .meta({ description: 'The error code of a refusal.', examples: ['rate_limit_exceeded'] }),
  grpc_status: z
    .int()
    .nullable()
    .default(null)
    .meta({
      description:
        '`grpc-status` of a refused gRPC call. null: the request is no gRPC call or is not refused, or the data plane is of a release that does not say it.',
      examples: [null],
    }),
  reason: z.string().meta({
    description: 'For a refusal: the message that the caller would get.',
    examples: ['The quota of the route orders is used up: 60000 requests in 60 seconds.'],
  }),
  retry_after_seconds: z
    .int()
    .nullable()
    .meta({ description: '`Retry-After` of a refusal.', examples: [17] }),
});

const authenticationSchema = z.object({
  type: z
    .string()
    .nullable()
    .meta({
      description: '`auth.type` of the route. null: there is no such route.',
      examples: ['token'],
    }),
  token_id: z
    .string()
    .nullable()
    .meta({
      description: 'The token that was found.',
      examples: ['tok_01kb5zv4x8n3m6q9r2t7w0y1z4'],
    }),
  refused_by: z
    .string()
    .nullable()
    .meta({
      description:
        'The rule that refuses the caller, in more detail than the response to it: `no_credential`, `two_tokens`, `no_token_in_credential`, `token_unknown`, `token_in_other_header`, `token_expired`, `jwt_of_other_issuer`, `jwt_not_verified`, `jwt_not_checked`, `jwt_refused`, `scope_missing`, `environment_not_covered`, `environment_of_other_host`, `no_route_of_host` or `route_not_covered`.',
      examples: ['token_expired'],
    }),
  failures_remaining: z.int().meta({
    description: 'Failed authentications that the address may still make in this minute.',
    examples: [600],
  }),
});

/** What would happen to a request on one data plane. Contains no header value, no body and no query. */
export const explanationSchema = z
  .object({
    data_plane: z
      .string()
      .meta({ description: 'The data plane that was asked.', examples: ['data-plane-1'] }),
    region: z.string().meta({ description: 'Its region.', examples: ['eu-west'] }),
    environment: z
      .string()
      .nullable()
      .meta({
        description: 'The environment of the request. null: the data plane serves no such.',
        examples: ['production'],
      }),
    config_version: z
      .int()
      .nullable()
      .meta({
        description: 'The configuration version of the environment that it serves.',
        examples: [42],
      }),
    route_id: z
      .string()
      .nullable()
      .meta({
        description: 'The route that the request reaches. null: none.',
        examples: ['rte_01kb5zv4x8n3m6q9r2t7w0y1z4'],
      }),
    reached_by: reachedBySchema.nullable().default(null).meta({
      description: 'How the request finds a route. null: the question has no `host`.',
    }),
    outcome: outcomeSchema.meta({ description: 'How the request ends.' }),
    stages: z
      .array(stageSchema)
      .meta({ description: 'What each stage decides, in the order in which they run.' }),
    authentication: authenticationSchema.meta({ description: 'Who the caller is.' }),
    version: versionSchema.nullable().meta({
      description: 'The version of the route that is chosen. null: the request does not reach one.',
    }),
    quota: quotaSchema
      .nullable()
      .meta({ description: 'The quota. null: the request does not reach it.' }),
    idempotency: idempotencySchema
      .nullable()
      .meta({ description: 'The idempotency key. null: it is not looked at.' }),
    rewrite: rewriteSchema.nullable().default(null).meta({
      description:
        'What the route changes of the request and of the response. null: nothing, or nothing is sent.',
    }),
    cors: corsSchema.nullable().default(null).meta({
      description:
        'What the route answers to the page that sends the request. null: the route has no `cors`, or the request no `Origin`.',
    }),
    upstreams: z.array(upstreamSchema).nullable().meta({
      description: 'The upstreams for the first attempt, the best first. null: nothing is sent.',
    }),
    retry_policy: z
      .string()
      .nullable()
      .meta({
        description: 'When the request is repeated. null: nothing is sent.',
        examples: ['No retries: retry_count is 0.'],
      }),
    grpc: grpcSchema.nullable().default(null).meta({
      description:
        'What the gRPC status of the response leads to. null: the request is no gRPC call, or nothing is sent, or the data plane is of a release that does not say it.',
    }),
    trailers: z
      .string()
      .nullable()
      .default(null)
      .meta({
        description:
          'Which trailers pass, of the request and of the response. null: nothing is sent.',
        examples: [
          'Trailers of the response pass: the request has TE: trailers, which the upstream gets too. Those of a request pass if its body comes in chunks.',
        ],
      }),
    mirror: mirrorSchema.nullable().default(null).meta({
      description:
        'What the mirror of the route gets. null: the route has none, or nothing is sent.',
    }),
    timeouts: timeoutsSchema
      .nullable()
      .meta({ description: 'The timeouts. null: the request reaches no route.' }),
    locations: locationsSchema.nullable().default(null).meta({
      description:
        'How addresses of the upstream in the response are mapped. null: they are not, or nothing is sent.',
    }),
    request_headers: z
      .array(z.string().meta({ description: 'The name of a header.', examples: ['cdn-loop'] }))
      .nullable()
      .meta({
        description:
          'The names of the headers that the upstream would get, in alphabetical order. null: nothing is sent.',
        examples: [['cdn-loop', 'host', 'traceparent']],
      }),
  })
  .meta({ id: 'Explanation', description: 'What would happen to a request on one data plane.' });

export type Explanation = z.infer<typeof explanationSchema>;
export type ReachedBy = z.infer<typeof reachedBySchema>;
export type ExplainedOutcome = z.infer<typeof outcomeSchema>;
export type ExplainedRewrite = z.infer<typeof rewriteSchema>;
export type ExplainedUpstream = z.infer<typeof upstreamSchema>;
