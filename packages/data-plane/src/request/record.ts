import { announcedLength } from '@gateway/http/message/framing';
import { isHostField } from '@gateway/shared/http/headers';
import type { Outcome, RequestRecord } from '@gateway/shared/records/record';
import {
  MAX_RECORDED_CLIENT_ID_CHARS,
  MAX_RECORDED_HOST_CHARS,
  MAX_RECORDED_PATH_CHARS,
  MAX_RECORDED_SUBJECT_CHARS,
  MAX_RECORDED_UPSTREAM_ID_CHARS,
  MAX_RECORDED_HEADER_NAME_CHARS,
  MAX_RECORDED_HEADER_NAMES,
} from '@gateway/shared/records/record-bounds';
import { isGrpcServerError } from '@gateway/shared/http/grpc-status';
import { normalPath } from '@gateway/shared/http/normal-path';
import { withoutTokenSecrets } from '@gateway/shared/tokens/secret';
import type { ReachedWay } from '../routing-table/match-layers.ts';
import type { CompiledService } from '../routing-table/routing-table.ts';
import type { RequestContext } from './context.ts';
import type { ProxyTarget } from './proxy-path.ts';
import type { TimeAccount } from './time-account.ts';
import type { HeaderFields } from '@gateway/http/fields/header-fields';
import { inboundField } from './inbound-fields.ts';

/** The record of a finished request, whose account of time is closed. */
export function buildRecord(ctx: RequestContext, dataPlane: string): RequestRecord {
  const { upstream, quota, times, inbound } = ctx;
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
      gateway_ms: times.gatewayUs / 1000,
      receiving_ms: times.receivingUs / 1000,
      waiting_ms: times.waitingUs / 1000,
      upstream_ms: times.upstreamUs / 1000,
      sending_ms: times.sendingUs / 1000,
      total_ms: times.totalUs / 1000,
    },
    waits: times.waitingUs === 0 ? null : waitsOf(times),
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
    client_request_id: bounded(inbound.clientRequestId, MAX_RECORDED_CLIENT_ID_CHARS) ?? null,
    request_bytes: ctx.body.receivedBytes,
    response_bytes: ctx.responseBytes,
    data_plane: dataPlane,
    config_version: ctx.environment?.version ?? null,
    trace_id: ctx.trace.traceId,
    header_names: headerNames(inbound.raw),
    host: hostOf(ctx),
    request_content_length: announcedLength(ctx.framing) ?? null,
    kind: ctx.kind,
    match: ctx.target.way === undefined ? null : matchOf(ctx.target, ctx.target.way),
    caller_id: null,
    would_refuse: null,
    units: null,
    upstream_request_id: upstreamRequestIdOf(ctx),
    parent_id: null,
    policies: ctx.policies ?? null,
    grpc_status: ctx.grpcStatus ?? null,
  };
}

function waitsOf(times: TimeAccount): RequestRecord['waits'] {
  return {
    key_ms: times.keyUs / 1000,
    quota_ms: times.quotaUs / 1000,
    connection_ms: times.connectionUs / 1000,
    retry_ms: times.retryUs / 1000,
  };
}

/**
 * The way that led to the route, such as `api.example.com/v2/*`. ASCII alone: any other character makes the text of a whole
 * batch one of two bytes a character, which costs a request a tenth of its time.
 */
function matchOf({ path }: ProxyTarget, { host, prefix }: ReachedWay): string {
  if (prefix === undefined) return host + normalPath(path);
  return `${host}${prefix === '/' ? '' : prefix}/*`;
}

/** The host that the caller asked for. An invalid one, which may be anything, is not recorded. */
function hostOf({ authority, inbound }: RequestContext): string | null {
  const host = authority ?? inbound.host;
  if (host === undefined || !isHostField(host)) return null;
  return bounded(host, MAX_RECORDED_HOST_CHARS) ?? null;
}

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/** The request id of the upstream. What cannot be one, because it has other characters, is not recorded. */
function upstreamRequestIdOf({ upstreamRequestId: id }: RequestContext): string | null {
  if (id === undefined || !VISIBLE_ASCII.test(id)) return null;
  return bounded(id, MAX_RECORDED_UPSTREAM_ID_CHARS) ?? null;
}

/** The request's service. If no version was chosen yet, the service of the route's only version. */
export function serviceOf(ctx: RequestContext): CompiledService | undefined {
  const { version, route } = ctx;
  return (version ?? (route?.versions.length === 1 ? route.versions[0] : undefined))?.service;
}

/**
 * The outcome of the request. `rejected`: the gateway refused it, or ended its response; `upstream_error`: the upstream
 * failed; `success` is also the answer that a route gives itself, whatever its status.
 */
export function outcomeOf(ctx: RequestContext): Outcome {
  // Checked first: when a response breaks off, the caller's connection is closed too.
  if (ctx.upstreamBroke) return 'upstream_error';
  if (ctx.refusedWithin !== undefined) return 'rejected';
  if (ctx.clientGone && ctx.endReason === undefined) return 'client_aborted';
  if (ctx.errorCode === 'upstream_unavailable') return 'upstream_unavailable';
  if (ctx.errorCode === 'upstream_timeout') return 'timeout';
  if (ctx.errorCode !== undefined) return 'rejected';
  const isOfUpstream = ctx.route?.answer === undefined;
  return hasFailed(ctx) && isOfUpstream ? 'upstream_error' : 'success';
}

/** Whether the response says that the server has failed: by its status, or by that of a gRPC call. */
function hasFailed({ status = 500, grpcStatus }: RequestContext): boolean {
  return status >= 500 || (grpcStatus !== undefined && isGrpcServerError(grpcStatus));
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

let lastFieldNames: readonly string[] = [];
let lastNames: string[] = [];

/**
 * The names of these fields in lower case, each once, without token secrets. Their number and length are bounded.
 *
 * Requests of one client, which have the same fields, share a list if no other client's came between: nobody may change
 * it.
 */
export function headerNames(fields: HeaderFields): string[] {
  if (!areLastNames(fields)) {
    lastFieldNames = fields.filter((_text, index) => index % 2 === 0);
    lastNames = recordedNames(lastFieldNames);
  }
  return lastNames;
}

/** Nearly all names are the same strings in each request, so that they are equal at a glance. */
function areLastNames(fields: HeaderFields): boolean {
  if (fields.length !== lastFieldNames.length * 2) return false;
  for (let index = 0; index < lastFieldNames.length; index += 1) {
    if (fields[index * 2] !== lastFieldNames[index]) return false;
  }
  return true;
}

function recordedNames(fieldNames: readonly string[]): string[] {
  const names: string[] = [];
  let charsLeft = MAX_RECORDED_HEADER_NAME_CHARS;
  for (const fieldName of fieldNames) {
    const name = withoutTokenSecrets(inboundField(fieldName).name);
    if (names.includes(name)) continue;
    charsLeft -= name.length;
    if (charsLeft < 0 || names.length === MAX_RECORDED_HEADER_NAMES) break;
    names.push(name);
  }
  return names;
}
