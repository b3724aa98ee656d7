import type { RecordedAttempt } from '@gateway/shared/records/attempt';
import type { RequestRecord } from '@gateway/shared/records/record';
import { MAX_RECORDED_PATH_CHARS } from '@gateway/shared/records/record-bounds';
import { ERROR_TABLE, type ErrorCode } from '@gateway/shared/errors/error-table';
import { nameOfGrpcStatus } from '@gateway/shared/http/grpc-status';
import { httpSpanName, methodAttributes, type Span } from '@gateway/shared/opentelemetry/span';
import { withoutTokenSecrets } from '@gateway/shared/tokens/secret';
import { isFaultOfUpstream } from '../../upstream/attempt-end.ts';
import type { RequestContext } from '../../request/context.ts';
import { serviceOf } from '../../request/record.ts';
import type { SampledTrace } from '../sampled-trace.ts';

/**
 * The spans of a finished request: its own, and one for each attempt. They are made of the record and contain nothing
 * else of the caller: no header value, no query value and no body.
 */
export function requestSpans(
  ctx: RequestContext,
  record: RequestRecord,
  trace: SampledTrace,
): Span[] {
  const spans = [serverSpan(ctx, record, trace)];
  for (const [index, attempt] of record.attempts.entries()) {
    const spanId = trace.attemptSpanIds[index];
    if (spanId !== undefined) spans.push(attemptSpan(ctx, record, trace, attempt, index, spanId));
  }
  return spans;
}

function serverSpan(ctx: RequestContext, record: RequestRecord, trace: SampledTrace): Span {
  // Only an existing route becomes the name of a span, never a name that a caller made up.
  const name = (ctx.route ?? ctx.unusableRoute)?.name;
  const route = name === undefined ? undefined : `/v1/proxy/${name}`;
  const errorType = failureOf(ctx, record);
  const { timing, waits } = record;
  return {
    name: httpSpanName(record.method, route),
    kind: 'server',
    traceId: trace.traceId,
    spanId: trace.spanId,
    parentSpanId: trace.parentSpanId,
    startMs: record.received_at_ms,
    durationMs: timing.total_ms,
    failed: errorType !== undefined,
    attributes: {
      ...methodAttributes(record.method),
      'http.route': route,
      'url.path': record.path,
      'url.scheme': ctx.protocol,
      'network.protocol.version': protocolVersion(ctx.httpVersion),
      'http.response.status_code': record.status ?? undefined,
      'rpc.grpc.status_code': record.grpc_status ?? undefined,
      'error.type': errorType,
      'client.address': record.client_ip,
      'gateway.request.id': record.id,
      'gateway.outcome': record.outcome,
      'gateway.error.code': record.error_code ?? undefined,
      'gateway.environment': record.environment ?? undefined,
      'gateway.route.name': name,
      'gateway.route.version': record.route_version ?? undefined,
      'gateway.service.id': record.service_id ?? undefined,
      'gateway.service.name': serviceOf(ctx)?.name,
      'gateway.latency_ms': timing.gateway_ms,
      'gateway.upstream_ms': timing.upstream_ms,
      'gateway.receiving_ms': timing.receiving_ms || undefined,
      'gateway.sending_ms': timing.sending_ms || undefined,
      'gateway.wait.key_ms': waits?.key_ms || undefined,
      'gateway.wait.quota_ms': waits?.quota_ms || undefined,
      'gateway.wait.connection_ms': waits?.connection_ms || undefined,
      'gateway.wait.retry_ms': waits?.retry_ms || undefined,
    },
  };
}

/**
 * What makes the request failed, as `error.type`. A status below 500 is no failure of a server, and neither is a caller
 * that left or does not read.
 */
function failureOf(ctx: RequestContext, record: RequestRecord): string | undefined {
  const { status, outcome } = record;
  const code = record.error_code as ErrorCode | null;
  if (ctx.upstreamBroke) return outcome;
  // The status of a response that the gateway ended says nothing of its end.
  if (code !== null && ctx.endReason !== undefined) {
    return ERROR_TABLE[code].domain === 'gateway' ? code : undefined;
  }
  if (status === null) return outcome === 'client_aborted' ? undefined : outcome;
  if (status >= 500) return code ?? String(status);
  const { grpc_status: grpcStatus } = record;
  const hasFailed = outcome === 'upstream_error' && grpcStatus !== null;
  return hasFailed ? nameOfGrpcStatus(grpcStatus) : undefined;
}

function attemptSpan(
  ctx: RequestContext,
  record: RequestRecord,
  trace: SampledTrace,
  attempt: RecordedAttempt,
  index: number,
  spanId: string,
): Span {
  const { status, error, grpc_status: grpcStatus = 0 } = attempt;
  // For a client, a status from 400 on is an error, and every gRPC status but OK. The span names the upstream, so only its
  // own faults are failures.
  const failed =
    error === undefined ? (status ?? 0) >= 400 || grpcStatus > 0 : isFaultOfUpstream(error);
  const failedWith = grpcStatus > 0 ? nameOfGrpcStatus(grpcStatus) : String(status);
  return {
    name: httpSpanName(record.method),
    kind: 'client',
    traceId: trace.traceId,
    spanId,
    parentSpanId: trace.spanId,
    startMs: record.received_at_ms + attempt.started_ms,
    durationMs: attempt.duration_ms,
    failed,
    attributes: {
      ...methodAttributes(record.method),
      ...addressAttributes(ctx, attempt.upstream),
      'http.request.resend_count': index === 0 ? undefined : index,
      'http.response.status_code': status,
      'rpc.grpc.status_code': attempt.grpc_status,
      'error.type': error ?? (failed ? failedWith : undefined),
      'gateway.upstream.id': attempt.upstream,
      'gateway.upstream.region': attempt.region ?? undefined,
      'gateway.retry.reason': attempt.retry?.why,
    },
  };
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

function addressAttributes(ctx: RequestContext, upstreamId: string): Span['attributes'] {
  const upstream = ctx.version?.service.upstreams.find(({ id }) => id === upstreamId);
  if (upstream === undefined) return {};
  const { protocol, hostname, port, origin } = new URL(upstream.origin);
  const path = withoutTokenSecrets(upstream.basePath + ctx.target.subPath);
  return {
    'server.address': hostname.replace(/^\[|\]$/g, ''),
    'server.port': port === '' ? DEFAULT_PORTS[protocol] : Number(port),
    'url.full': `${origin}${path.slice(0, MAX_RECORDED_PATH_CHARS)}`,
  };
}

/**
 * The span of a call that was passed to the control plane. It has no attempts, and the control plane sees this span as
 * the parent.
 */
export function passedSpan(ctx: RequestContext, trace: SampledTrace, nowMs: number): Span {
  const { status } = ctx;
  const failed = status === undefined || status >= 500;
  return {
    name: httpSpanName(ctx.method),
    kind: 'server',
    traceId: trace.traceId,
    spanId: trace.attemptSpanIds[0] ?? trace.spanId,
    parentSpanId: trace.parentSpanId,
    startMs: ctx.receivedAtMs,
    durationMs: nowMs - ctx.startedMs,
    failed,
    attributes: {
      ...methodAttributes(ctx.method),
      'url.path': withoutTokenSecrets(ctx.target.path).slice(0, MAX_RECORDED_PATH_CHARS),
      'url.scheme': ctx.protocol,
      'network.protocol.version': protocolVersion(ctx.httpVersion),
      'http.response.status_code': status,
      'error.type': failed ? (ctx.errorCode ?? String(status ?? 'client_aborted')) : undefined,
      'client.address': ctx.clientIp,
      'gateway.request.id': ctx.id,
      'gateway.error.code': ctx.errorCode,
    },
  };
}

/** As the conventions name it: `2` for HTTP/2. */
function protocolVersion(httpVersion: string): string {
  return httpVersion === '2.0' ? '2' : httpVersion;
}
