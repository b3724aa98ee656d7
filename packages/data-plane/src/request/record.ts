import {
  MAX_RECORDED_CLIENT_ID_CHARS,
  MAX_RECORDED_PATH_CHARS,
  MAX_RECORDED_SUBJECT_CHARS,
  type Outcome,
  type RequestRecord,
} from '@gateway/shared/records/record';
import { withoutTokenSecrets } from '@gateway/shared/tokens/secret';
import type { CompiledService } from '../routing-table/routing-table.ts';
import type { RequestContext } from './context.ts';

/** The record of a finished request. */
export function buildRecord(ctx: RequestContext, nowMs: number, dataPlane: string): RequestRecord {
  const { upstream, quota } = ctx;
  return {
    id: ctx.id,
    // The name of an unknown environment comes from a header, and records keep no header values.
    environment: ctx.environment === undefined ? null : (ctx.environmentName ?? null),
    route: bounded(ctx.target.routeName, MAX_RECORDED_CLIENT_ID_CHARS) ?? null,
    route_version: ctx.version?.name ?? null,
    service_id: serviceOf(ctx)?.id ?? null,
    method: bounded(ctx.method, MAX_RECORDED_CLIENT_ID_CHARS) ?? '',
    path: bounded(ctx.target.path, MAX_RECORDED_PATH_CHARS) ?? '',
    status: ctx.status ?? null,
    outcome: outcomeOf(ctx),
    error_code: ctx.errorCode ?? null,
    error_stage: ctx.errorCode === undefined ? null : (ctx.failedStage ?? 'forward'),
    received_at_ms: ctx.receivedAtMs,
    timing: {
      gateway_ms: roundMs(ctx.gatewayMs),
      upstream_ms: roundMs(ctx.upstreamMs),
      total_ms: roundMs(nowMs - ctx.startedMs),
    },
    upstream:
      upstream === undefined
        ? null
        : { id: upstream.id, url: upstream.url, region: upstream.region },
    retry_count: Math.max(0, ctx.attempts.length - 1),
    attempts: ctx.attempts,
    rate_limit:
      quota === undefined
        ? null
        : { limit: quota.limit, remaining: quota.remaining, reset_seconds: quota.resetSeconds },
    idempotency: ctx.idempotency ?? null,
    token_id: ctx.token?.id ?? null,
    subject: bounded(ctx.jwt?.subject, MAX_RECORDED_SUBJECT_CHARS) ?? null,
    claims: ctx.jwt?.claims ?? null,
    client_ip: ctx.clientIp,
    client_request_id: bounded(ctx.inbound.clientRequestId, MAX_RECORDED_CLIENT_ID_CHARS) ?? null,
    request_bytes: ctx.body.receivedBytes,
    response_bytes: ctx.responseBytes,
    data_plane: dataPlane,
    config_version: ctx.environment?.version ?? null,
    trace_id: ctx.trace.traceId,
  };
}

/** The request's service. If no version was chosen yet, the service of the route's only version. */
export function serviceOf(ctx: RequestContext): CompiledService | undefined {
  const { version, route } = ctx;
  return (version ?? (route?.versions.length === 1 ? route.versions[0] : undefined))?.service;
}

/** The outcome of the request. `rejected`: the gateway refused it; `upstream_error`: the upstream failed. */
export function outcomeOf(ctx: RequestContext): Outcome {
  // Checked first: when a response breaks off, the caller's connection is closed too.
  if (ctx.upstreamBroke) return 'upstream_error';
  if (ctx.clientGone) return 'client_aborted';
  if (ctx.errorCode === 'upstream_unavailable') return 'upstream_unavailable';
  if (ctx.errorCode === 'upstream_timeout') return 'timeout';
  if (ctx.errorCode !== undefined) return 'rejected';
  return (ctx.status ?? 500) >= 500 ? 'upstream_error' : 'success';
}

function bounded(text: string | undefined, maxChars: number): string | undefined {
  if (text === undefined || text === '') return undefined;
  // Secrets are removed first, because a truncated secret would not be recognised.
  return withoutTokenSecrets(text).slice(0, maxChars);
}

/** Milliseconds rounded to microseconds. */
export function roundMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
