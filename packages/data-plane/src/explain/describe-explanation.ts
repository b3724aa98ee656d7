import { fieldValue } from '@gateway/http/fields/header-fields';
import type { ErrorCode } from '@gateway/shared/errors/error-table';
import { grpcStatusOfError } from '@gateway/shared/errors/grpc-statuses';
import type { ExplainedOutcome, Explanation } from '@gateway/shared/explain/explanation';
import { callerPrefix } from '../request/caller-prefix.ts';
import type { RequestContext } from '../request/context.ts';
import { hasStatusInTrailers } from '../request/grpc-error-fields.ts';
import { messageSizes } from '../request/message-sizes.ts';
import { roundMs } from '../request/record.ts';
import { hasOnePath, servicePathBehindUrl } from '../request/response-locations.ts';
import { isStream } from '../request/stream-progress.ts';
import type { CompiledRoute, CompiledVersion } from '../routing-table/routing-table.ts';
import type { Findings } from './dry-stages.ts';
import { describeRetries, explainUpstreams, sentHeaderNames } from './explain-forward.ts';
import { describeGrpc } from './explain-grpc.ts';
import { describeRewrite } from './explain-rewrite.ts';
import { explainMirror } from './explain-mirror.ts';
import { describeTrailers } from './explain-trailers.ts';
import type { ExplainedRun, ExplainParts, StageOutcome } from './explained-run.ts';

/** The explanation of a request whose stages have run. Parts that it did not come to are null. */
export function describe(run: ExplainedRun, parts: ExplainParts): Explanation {
  const { ctx, reachedBy, findings, stages, refusedBy } = run;
  const { config, failures, stages: options } = parts;
  const outcome = stages.find((stage) => stage.outcome !== undefined)?.outcome;
  if (outcome === undefined) throw new Error('no stage has ended the request');
  const { environment, route, version } = ctx;
  const known = route ?? ctx.unusableRoute;
  return {
    data_plane: config.DATA_PLANE_ID,
    region: config.REGION,
    environment: environment?.name ?? null,
    config_version: environment?.version ?? null,
    route_id: known?.id ?? null,
    reached_by: reachedBy ?? null,
    outcome: endOf(ctx, outcome),
    stages: stages.map(({ name, decision, reason }) => ({ name, decision, reason })),
    authentication: {
      type: known?.auth?.type ?? null,
      token_id: ctx.token?.id ?? null,
      refused_by: refusedBy ?? null,
      failures_remaining: failures.left(ctx.clientIp, options.access.nowMs()).remaining,
    },
    version:
      version === undefined
        ? null
        : {
            name: version.name ?? null,
            service_id: version.service.id,
            service: version.service.name,
          },
    quota: describeQuota(ctx, findings),
    idempotency: describeKey(ctx, findings, stages.some(isAtKey)),
    cors: describeCors(ctx),
    ...describeForward(ctx, parts, outcome.decision === 'forward'),
    timeouts:
      route === undefined
        ? null
        : {
            timeout_ms: route.settings.timeout_ms,
            caller_timeout_ms: callerTimeoutMs(ctx),
            streaming: isStream(ctx),
            max_message_bytes: messageSizes(ctx, route.settings)?.maxBytes ?? null,
            per_attempt_timeout_ms: route.retry.perAttemptTimeoutMs ?? null,
            connect_timeout_ms: config.CONNECT_TIMEOUT_MS,
            max_upload_ms: route.settings.max_upload_ms,
            min_upload_bytes_per_second: route.settings.min_upload_bytes_per_second,
            body_idle_timeout_ms:
              route.settings.body_idle_timeout_ms ?? config.BODY_IDLE_TIMEOUT_MS,
          },
  };
}

/** The end of the request as its caller sees it: a refused gRPC call has a gRPC status, and perhaps no other one than 200. */
function endOf(ctx: RequestContext, outcome: StageOutcome): ExplainedOutcome {
  const { code, stage } = outcome;
  if (!ctx.inbound.isGrpc || code === null) return { ...outcome, grpc_status: null };
  // A stage refuses with codes of the table, and before anything is sent.
  const error = { code: code as ErrorCode };
  return {
    ...outcome,
    status: hasStatusInTrailers(ctx, error, stage) ? 200 : outcome.status,
    grpc_status: grpcStatusOfError(error.code, false),
  };
}

function callerTimeoutMs({ callerDeadlineMs, startedMs }: RequestContext): number | null {
  return callerDeadlineMs === Infinity ? null : roundMs(callerDeadlineMs - startedMs);
}

const UNANSWERED =
  ' This OPTIONS request is no preflight that the gateway answers: it has no Access-Control-Request-Method, or is for another environment than that of preflights, or its actual request may reach a route that does not allow the origin.';

/** What a browser gets to know. No value of the request is in it. */
function describeCors({ route, inbound, method, target }: RequestContext): Explanation['cors'] {
  const { origin } = inbound;
  if (route?.cors === undefined || origin === undefined) return null;
  const { match, methods, headers, fields, credentials, maxAgeS } = route.cors;
  const allowedBy = match(origin);
  const goesOn = method === 'OPTIONS' && target.preflight === undefined ? UNANSWERED : '';
  return {
    origin_allowed: allowedBy !== undefined,
    allowed_by: allowedBy ?? null,
    methods: [...methods],
    headers: headers === undefined ? ['*'] : [...headers],
    expose: fieldValue(fields, 'access-control-expose-headers')?.split(', ') ?? [],
    credentials,
    max_age_s: maxAgeS,
    reason:
      allowedBy === undefined
        ? 'No item of `cors.origins` covers the origin: its pages cannot read responses, and a WebSocket of theirs is refused with 403.'
        : `The item ${allowedBy} of \`cors.origins\` covers the origin.${goesOn}`,
  };
}

function isAtKey({ name, decision }: Explanation['stages'][number]): boolean {
  return name === 'idempotency' && decision !== 'not_reached';
}

function describeForward(
  ctx: RequestContext,
  { config, stages }: ExplainParts,
  isForwarded: boolean,
): Pick<
  Explanation,
  | ('rewrite' | 'upstreams' | 'retry_policy' | 'grpc' | 'trailers')
  | ('locations' | 'request_headers' | 'mirror')
> {
  const { route, version, takenBody } = ctx;
  if (!isForwarded || route === undefined || version === undefined || takenBody === undefined) {
    return {
      rewrite: null,
      upstreams: null,
      retry_policy: null,
      grpc: null,
      trailers: null,
      locations: null,
      request_headers: null,
      mirror: null,
    };
  }
  const balancer = stages.forward.balancers.of(version.service);
  return {
    rewrite: describeRewrite(ctx),
    upstreams: explainUpstreams(balancer, route, config.REGION, ctx.affinity),
    retry_policy: describeRetries(ctx, route, takenBody),
    grpc: describeGrpc(ctx, route, takenBody),
    trailers: describeTrailers(ctx),
    locations: describeLocations(ctx, route, version),
    request_headers: sentHeaderNames(ctx, takenBody),
    mirror: explainMirror(ctx),
  };
}

function describeLocations(
  ctx: RequestContext,
  { settings, rewrite }: CompiledRoute,
  { service }: CompiledVersion,
): Explanation['locations'] {
  if (settings.locations !== 'map') return null;
  const behind = servicePathBehindUrl(ctx);
  const paths = new Set(service.upstreams.map(({ basePath }) => basePath + behind));
  return {
    caller_prefix: callerPrefix(ctx.target, rewrite?.path?.stripPrefix),
    service_paths: [...paths].toSorted(),
    only_cookies: hasOnePath(ctx),
  };
}

function describeQuota({ route }: RequestContext, { quota }: Findings): Explanation['quota'] {
  if (route === undefined || quota === undefined) return null;
  return {
    limit: quota.limit,
    window_seconds: route.quota.windowMs / 1000,
    per: route.quota.per,
    granted: quota.grantedToAll ?? null,
    leased: quota.leased,
    remaining: quota.remaining,
    reset_seconds: quota.resetSeconds,
  };
}

/** The state of a key that the request would claim. */
const CLAIMED_STATES = {
  nothing: 'free',
  expiry: 'free',
  repeatable: 'repeatable',
  unknown: 'outcome_unknown',
} as const;

function describeKey(
  { inbound, idempotency }: RequestContext,
  { key }: Findings,
  isReached: boolean,
): Explanation['idempotency'] {
  if (!isReached) return null;
  if (idempotency === 'passed_on') return { state: idempotency, first_request_id: null };
  if (inbound.idempotencyKey === undefined) return { state: 'no_key', first_request_id: null };
  // The field is not a key: the stage has refused it before it read any.
  if (key === undefined) return null;
  if (key === 'unavailable') return { state: key, first_request_id: null };
  if (key.kind === 'claim') {
    return { state: CLAIMED_STATES[key.after], first_request_id: key.firstId };
  }
  const state = key.kind === 'wait' ? 'in_flight' : key.kind === 'replay' ? 'stored' : key.why;
  return { state, first_request_id: key.firstId };
}
