import { HEAD_LIMITS } from '@gateway/http/http1/client/connection';
import { fieldValue } from '@gateway/http/fields/header-fields';
import { GRPC_STATUS } from '@gateway/shared/http/grpc';
import type { RecordedAttempt } from '@gateway/shared/records/attempt';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { ClientLeftError } from '../request/client-left-error.ts';
import { callerDeadlinePassed } from '../request/caller-deadline-passed.ts';
import type { RequestContext } from '../request/context.ts';
import { roundMs } from '../request/record.ts';
import type { TakenBody } from '../request/request-body.ts';
import { isStream } from '../request/stream-progress.ts';
import type { OverloadRefusals } from '../limits/overload-refusals.ts';
import type { UpstreamClient } from './upstream-client.ts';
import type { CompiledService, CompiledUpstream } from '../routing-table/routing-table.ts';
import type { AttemptEnd, AttemptError, AttemptErrorName } from './attempt-end.ts';
import {
  parsePushbackMs,
  parseRetryAfterMs,
  type AttemptFailure,
  type RetryDecision,
  type RetryRefusal,
} from './decide-retry.ts';

const { maxHeaderBytes, maxHeaderLines } = HEAD_LIMITS;

/** From this part of the time on a wait is the reason that nothing was sent. */
const MAIN_PART = 1 / 2;

/** What another attempt would not change. */
const NOT_OF_ATTEMPT = new Set<AttemptErrorName>([
  'cancelled',
  'request_body',
  'stream_idle',
  'unsendable',
]);

/**
 * How the attempt failed, for the retry decision. undefined if it succeeded, or if the caller's side ended it. Every
 * status from 400 on is a possible failure: the policy of the route says which ones are retried.
 */
export function attemptFailure(outcome: AttemptEnd, nowMs: number): AttemptFailure | undefined {
  const { response, error } = outcome;
  if (response !== undefined) {
    if (!hasFailed(outcome)) return undefined;
    const { fields } = response;
    const retryAfterMs = parseRetryAfterMs(fieldValue(fields, 'retry-after'), nowMs);
    if (response.status >= 400) return { kind: 'status', status: response.status, retryAfterMs };
    const pushbackMs = parsePushbackMs(fieldValue(fields, 'grpc-retry-pushback-ms'));
    const status = outcome.grpcStatus === GRPC_STATUS.UNAVAILABLE ? UNAVAILABLE : response.status;
    return { kind: 'status', status, retryAfterMs: pushbackMs };
  }
  if (NOT_OF_ATTEMPT.has(error.name)) return undefined;
  if (error.name === 'attempt_timeout' || error.name === 'goaway') return { kind: error.name };
  return error.sent ? { kind: 'reset' } : { kind: 'connect' };
}

/** The status of HTTP that says what UNAVAILABLE says in gRPC. */
const UNAVAILABLE = 503;

/** Whether the attempt has no response, or one that says that it failed. */
export function hasFailed({ response, grpcStatus = GRPC_STATUS.OK }: AttemptEnd): boolean {
  return response === undefined || response.status >= 400 || grpcStatus !== GRPC_STATUS.OK;
}

/** Adds the attempt to the record. Its duration ends with the head of the response, or with the failure. */
export function recordAttempt(
  ctx: RequestContext,
  upstream: CompiledUpstream,
  outcome: AttemptEnd,
  startedMs: number,
  endedMs: number,
): void {
  const durationMs = endedMs - startedMs;
  ctx.mayHaveSent ||= outcome.error?.sent ?? true;
  ctx.sentWithoutAnswer ||= outcome.error?.sent ?? false;
  const { id, region } = upstream;
  const started_ms = roundMs(startedMs - ctx.startedMs);
  const duration_ms = roundMs(durationMs);
  const { response, error, grpcStatus } = outcome;
  const attempt: RecordedAttempt =
    response === undefined
      ? { upstream: id, region, started_ms, duration_ms, error: error.name }
      : { upstream: id, region, started_ms, duration_ms, status: response.status };
  if (grpcStatus !== undefined) attempt.grpc_status = grpcStatus;
  ctx.attempts.push(attempt);
}

/** Why an attempt was not followed by another one: the decision, or what made it impossible. */
export type NotRetried =
  | RetryRefusal
  | 'caller_left'
  | 'response_ended'
  | 'caller_failure'
  | 'key_lease_ended'
  | 'service_overloaded';

/** Adds to the record what follows the last attempt. It has no effect before the first one. */
export function recordRetry(ctx: RequestContext, decision: RetryDecision<NotRetried>): void {
  const last = ctx.attempts.at(-1);
  if (last !== undefined) last.retry = { retried: decision.retry, why: decision.why };
}

/**
 * Runs before each attempt, so that nothing is sent after the caller has left or the deadline has passed.
 *
 * @throws ClientLeftError, or GatewayError; see `deadlinePassed`
 */
export function assertStillNeeded(ctx: RequestContext, nowMs: number): void {
  if (isAbandoned(ctx)) {
    recordRetry(ctx, { retry: false, why: whyAbandoned(ctx) });
    throw new ClientLeftError();
  }
  if (nowMs >= ctx.deadlineMs) {
    recordRetry(ctx, { retry: false, why: 'deadline' });
    throw deadlinePassed(ctx);
  }
}

/** Whether nobody waits for the response. A request with an idempotency key continues, so that its outcome is known. */
export function isAbandoned(ctx: RequestContext): boolean {
  return ctx.clientGone && ctx.capture === undefined;
}

export function whyAbandoned({ endReason }: RequestContext): 'caller_left' | 'response_ended' {
  return endReason === undefined ? 'caller_left' : 'response_ended';
}

/** The error for the caller after the last attempt. */
export function finalError(
  ctx: RequestContext,
  body: TakenBody,
  error: AttemptError,
  nowMs: number,
): Error {
  if (ctx.clientGone) return new ClientLeftError();
  if (error.name === 'request_body') {
    const failure = body.kind === 'stream' ? body.stream.failure : undefined;
    return failure instanceof GatewayError ? failure : new ClientLeftError();
  }
  if (error.name === 'unsendable') return new Error('the request could not be serialized');
  // It was reported where it was thrown.
  if (error.name === 'internal_error') {
    return new GatewayError('internal_error', 'The gateway failed to handle the request.');
  }
  // Its caller has not left, so its time is over. A timer may run a little early.
  if (error.name === 'cancelled' || nowMs >= ctx.callerDeadlineMs) return callerDeadlinePassed(ctx);
  if (isStream(ctx) && error.sent) {
    if (error.name === 'stream_idle' || error.name === 'attempt_timeout') return silentStream(ctx);
  } else if (error.name === 'attempt_timeout' || nowMs >= ctx.deadlineMs) {
    return deadlinePassed(ctx, isSending(body));
  }
  return new GatewayError('upstream_unavailable', unavailable(ctx, error));
}

function silentStream({ route }: RequestContext): GatewayError {
  return new GatewayError(
    'upstream_timeout',
    `The stream of the route ${route?.name ?? ''} ended before its response began: nothing arrived in either direction for too long (body_idle_timeout_ms).`,
  );
}

/** Whether a part of the body has not been sent. */
function isSending(body: TakenBody): boolean {
  return body.kind === 'stream' && !body.stream.isRead;
}

/**
 * The error for a request whose deadline passed.
 *
 * @param bodyUnsent whether a part of the body had not been sent
 */
export function deadlinePassed(ctx: RequestContext, bodyUnsent = false): GatewayError {
  const route = ctx.route?.name ?? '';
  if (ctx.deadlineMs === ctx.callerDeadlineMs) return callerDeadlinePassed(ctx);
  const passed = `The timeout of the route ${route} passed before`;
  if (ctx.attempts.length === 0) {
    if (ctx.times.keyUs / 1000 >= ctx.timeoutMs * MAIN_PART) {
      return new GatewayError('idempotency_unavailable', `${passed} the key store had answered.`);
    }
    return new GatewayError('gateway_overloaded', `${passed} anything was sent to the upstream.`);
  }
  return new GatewayError(
    'upstream_timeout',
    bodyUnsent
      ? `${passed} the whole request body was sent.`
      : `The upstream of the route ${route} did not respond in time.`,
  );
}

function unavailable(ctx: RequestContext, error: AttemptError): string {
  const route = ctx.route?.name ?? '';
  if (error.name === 'key_lease_ended') {
    return 'Nothing was sent: the lease of the idempotency key ended while the request waited for a connection.';
  }
  const unreachable = `No upstream of the route ${route} could be reached`;
  switch (error.name) {
    case 'connect_refused':
      return `${unreachable}: it refuses connections.`;
    case 'connect_timeout':
      return `${unreachable}: it accepts no connection in time.`;
    case 'name_not_found':
      return `${unreachable}: its name has no address.`;
    case 'tls_failed':
      return `${unreachable}: the TLS handshake failed, or its certificate is not trusted.`;
    case 'dns_failed':
      return `${unreachable}: the name servers of the data plane did not answer.`;
    case 'address_refused':
      return `${unreachable}: the data plane refuses its address.`;
    case 'http2_not_chosen':
      return `${unreachable}: it does not choose HTTP/2 in the TLS handshake, which the service requires.`;
    case 'refused_stream':
      return `The upstream of the route ${route} refused the request before it looked at it.`;
    case 'connect_not_offered':
      return `The upstream of the route ${route} does not take WebSocket handshakes over HTTP/2, which the service requires.`;
    case 'goaway':
      return `The upstream of the route ${route} closed its connections before it looked at the request.`;
    case 'invalid_response':
      return `The upstream of the route ${route} sent an invalid HTTP response.`;
    case 'speaks_http1':
      return `The upstream of the route ${route} speaks HTTP/1.1 and got HTTP/2, as protocol of its service says.`;
    case 'speaks_http2':
      return `The upstream of the route ${route} speaks HTTP/2 and got HTTP/1.1, as ${ctx.leavesHttp ? 'websocket_protocol' : 'protocol'} of its service says.`;
    case 'response_head_too_large':
      return `The upstream of the route ${route} sent a response head above the ${maxHeaderBytes} bytes or ${maxHeaderLines} lines that the gateway accepts.`;
    default:
      return error.sent
        ? `The upstream of the route ${route} closed the connection before it sent a response.`
        : `${unreachable}.`;
  }
}

/** What knows the limits and shortages of this data plane. */
export interface RefusalOptions {
  readonly overloads: OverloadRefusals;
  readonly upstreams: UpstreamClient;
}

const SHORTAGES = {
  system_resources:
    'The data plane has no file descriptor, port or memory left for a connection. Nothing was sent.',
  gateway_paused: 'The data plane was paused until the timeout of the route. Nothing was sent.',
};

/** The error if a limit or a shortage of this data plane was the reason; undefined if it was not. */
export function refusalOf(
  ctx: RequestContext,
  service: CompiledService,
  { name }: AttemptError,
  nowMs: number,
  { overloads, upstreams }: RefusalOptions,
): GatewayError | undefined {
  const { clientGone, upstream, callerDeadlineMs } = ctx;
  if (clientGone || nowMs >= callerDeadlineMs) return undefined;
  if (name === 'max_connections' && upstream !== undefined) {
    const { maxConnections } = upstreams.poolLimits(upstream);
    return unlessSent(ctx, overloads.refuseForService(service, name, maxConnections));
  }
  if (name !== 'system_resources' && name !== 'gateway_paused') return undefined;
  return unlessSent(ctx, overloads.refuseHere(name, SHORTAGES[name]));
}

/** The error if no room was left to wait for a connection. */
export function queueRefusal(
  ctx: RequestContext,
  service: CompiledService,
  upstream: CompiledUpstream,
  { overloads, upstreams }: RefusalOptions,
): GatewayError {
  const { maxPending, maxConnections } = upstreams.poolLimits(upstream);
  return unlessSent(ctx, overloads.refuseForQueue(service, maxPending, maxConnections));
}

/** An earlier attempt may have been carried out, and the code of this error would say that nothing was sent. */
export function unlessSent(ctx: RequestContext, error: GatewayError): GatewayError {
  return ctx.mayHaveSent
    ? new GatewayError(
        'upstream_unavailable',
        `The request failed. It was not retried: ${error.message}`,
      )
    : error;
}
