import { fieldValue } from '@gateway/http1/fields/header-fields';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { ClientLeftError } from '../request/caller.ts';
import type { RequestContext } from '../request/context.ts';
import { roundMs } from '../request/record.ts';
import type { TakenBody } from '../request/request-body.ts';
import type { CompiledUpstream } from '../routing-table/routing-table.ts';
import type { UpstreamResponse } from '../request/upstream-response.ts';
import type { AttemptError } from './port.ts';
import { parseRetryAfterMs, type AttemptFailure } from './retry.ts';

/** Ends of an attempt that another attempt would not change. */
const NOT_THE_UPSTREAMS = new Set<AttemptError['name']>([
  'cancelled',
  'request_body',
  'unsendable',
]);

/** What the retry decision needs to know of an outcome. */
export type AttemptResult =
  | { readonly response: ResponseStart; readonly error?: undefined }
  | { readonly response?: undefined; readonly error: AttemptError };

type ResponseStart = Pick<UpstreamResponse, 'status' | 'fields'>;

/**
 * How the attempt failed in the terms of the retry decision; undefined where it did not, or where the
 * caller's own side ended it. Any status is a possible failure: the policy names those that are.
 */
export function attemptFailure(outcome: AttemptResult, nowMs: number): AttemptFailure | undefined {
  const { response, error } = outcome;
  if (response !== undefined) {
    if (response.status < 400) return undefined;
    const retryAfterMs = parseRetryAfterMs(fieldValue(response.fields, 'retry-after'), nowMs);
    return { kind: 'status', status: response.status, retryAfterMs };
  }
  if (NOT_THE_UPSTREAMS.has(error.name)) return undefined;
  if (error.name === 'attempt_timeout') return { kind: error.name };
  return error.sent ? { kind: 'reset' } : { kind: 'connect' };
}

/** What the record needs to know of an outcome. */
export type AttemptEnd =
  | { readonly response: { readonly status: number }; readonly error?: undefined }
  | { readonly response?: undefined; readonly error: AttemptError };

/** Notes the attempt for the record. The time is that to the head of the response, or to the failure. */
export function recordAttempt(
  ctx: RequestContext,
  upstream: CompiledUpstream,
  outcome: AttemptEnd,
  startedMs: number,
  endedMs: number,
): void {
  const durationMs = endedMs - startedMs;
  ctx.mayHaveSent ||= outcome.error?.sent ?? true;
  ctx.upstreamMs += durationMs;
  const { id, region } = upstream;
  const started_ms = roundMs(startedMs - ctx.startedMs);
  const duration_ms = roundMs(durationMs);
  const { response, error } = outcome;
  ctx.attempts.push(
    response === undefined
      ? { upstream: id, region, started_ms, duration_ms, error: error.name }
      : { upstream: id, region, started_ms, duration_ms, status: response.status },
  );
}

/** The error that the caller gets after the last attempt. */
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
  if (error.name === 'unsendable') return new Error('the request could not be written');
  if (error.name === 'attempt_timeout' || nowMs >= ctx.deadlineMs) {
    return deadlinePassed(ctx, callerSends(body));
  }
  return new GatewayError('upstream_unavailable', unavailable(ctx, error));
}

/** Whether some of the body is still to be sent, as the caller has not sent it, or the upstream not taken it. */
export function callerSends(body: TakenBody): boolean {
  return body.kind === 'stream' && !body.stream.readableEnded;
}

/** The error of a request whose deadline passed; `bodyUnsent`: before all of its body was on its way. */
export function deadlinePassed(ctx: RequestContext, bodyUnsent = false): GatewayError {
  const route = ctx.route?.name ?? '';
  let message = `The upstream of the route ${route} did not answer in time.`;
  if (ctx.attempts.length === 0) {
    message = `The time of the route ${route} was over before anything was sent.`;
  } else if (bodyUnsent) {
    message = `The time of the route ${route} was over before all of the request body was sent.`;
  }
  return new GatewayError('upstream_timeout', message);
}

function unavailable(ctx: RequestContext, error: AttemptError): string {
  const route = ctx.route?.name ?? '';
  if (!error.sent) return `No upstream of the route ${route} could be reached.`;
  return error.name === 'invalid_response'
    ? `The upstream of the route ${route} did not answer in HTTP.`
    : `The upstream of the route ${route} broke off before its response began.`;
}
