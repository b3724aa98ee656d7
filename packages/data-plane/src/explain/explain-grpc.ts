import type { Explanation } from '@gateway/shared/explain/explanation';
import { GRPC_STATUS, type GrpcStatusName } from '@gateway/shared/http/grpc';
import type { RequestContext } from '../request/context.ts';
import { sendsIdempotencyKey } from '../request/inbound-headers.ts';
import type { TakenBody } from '../request/request-body.ts';
import type { CompiledRoute, RetryPolicy } from '../routing-table/routing-table.ts';
import { grpcVerdict } from '../upstream/attempt-end.ts';
import { attemptFailure } from '../upstream/attempt-outcome.ts';
import { decideRetry, type RetryDecision, type RetryRefusal } from '../upstream/decide-retry.ts';
import { CONSECUTIVE_FAILURES } from '../upstream/health/ejection.ts';

const NAMES = Object.keys(GRPC_STATUS) as GrpcStatusName[];

/** What follows a gRPC status of a response without a message. */
interface AfterStatus {
  readonly name: GrpcStatusName;
  /** The HTTP status that it counts as in a retry decision. */
  readonly countsAs: number;
  readonly decision: RetryDecision;
}

/** What each gRPC status of an upstream leads to; null: the request is no gRPC call. */
export function describeGrpc(
  ctx: RequestContext,
  route: CompiledRoute,
  body: TakenBody,
): Explanation['grpc'] {
  if (!ctx.inbound.isGrpc) return null;
  const ends = NAMES.flatMap((name) => afterStatus(name, ctx, route, body));
  const retried = ends.filter(({ decision }) => decision.retry);
  const against = NAMES.filter((name) => grpcVerdict(GRPC_STATUS[name]) === 'bad');
  return {
    retried: retried.map(({ name }) => name),
    against_upstream: against,
    reason: `${retryReason(ends, retried, ctx, route.retry)} ${healthReason(against)}`,
  };
}

/** The decision of the data path after a first attempt that ends so, while the retry budget and the time last. */
function afterStatus(
  name: GrpcStatusName,
  ctx: RequestContext,
  route: CompiledRoute,
  body: TakenBody,
): AfterStatus[] {
  const response = { status: 200, fields: [] };
  const failure = attemptFailure({ response, grpcStatus: GRPC_STATUS[name] }, 0);
  if (failure?.kind !== 'status') return [];
  const decision = decideRetry(
    {
      failure,
      sent: true,
      method: ctx.method,
      hasIdempotencyKey: sendsIdempotencyKey(ctx.inbound),
      bodyKept: isKept(ctx, body),
      hasAlternative: false,
      retriesMade: 0,
      retryCount: route.settings.retry_count,
      resends: 0,
      remainingMs: Infinity,
      liveRetries: 0,
      recentRequests: 0,
      earnedRetries: 1,
      alone: true,
      random: 0,
    },
    route.retry,
  );
  return [{ name, countsAs: failure.status, decision }];
}

/** Whether the body can be sent again after all of it was sent. */
function isKept(ctx: RequestContext, body: TakenBody): boolean {
  if (body.kind === 'kept') return true;
  return ctx.body.receivedBytes <= (body.resendable?.maxBytes ?? 0);
}

function retryReason(
  ends: readonly AfterStatus[],
  retried: readonly AfterStatus[],
  ctx: RequestContext,
  policy: RetryPolicy,
): string {
  if (retried.length > 0) {
    const which = retried.map(
      ({ name, countsAs }) => `${name}, which counts as the status ${countsAs}`,
    );
    return `If the response has no message, the call is retried after ${which.join(', or ')}. After a message nothing is retried.`;
  }
  // A status that counts as a success of HTTP could not be retried by any policy.
  const failures = ends.filter(({ countsAs }) => countsAs >= 400);
  const why = failures.map(({ name, countsAs, decision }) => {
    const refusal = decision.retry ? undefined : decision.why;
    return `${name} without a message counts as the status ${countsAs}, but ${refusalText(refusal, countsAs, ctx, policy)}.`;
  });
  return ['No gRPC status is retried.', ...why].join(' ');
}

function refusalText(
  why: RetryRefusal | undefined,
  countsAs: number,
  { method }: RequestContext,
  { unsafeMethods }: RetryPolicy,
): string {
  switch (why) {
    case 'status_not_retried':
      return `retry.on_statuses does not have ${countsAs}`;
    case 'retry_count_used_up':
      return 'retry_count is 0';
    case 'method_not_idempotent':
      return `${method} is not idempotent, and retry.unsafe_methods is ${unsafeMethods}`;
    case 'body_not_kept':
      return 'the body is not kept';
    default:
      return 'it is not retried';
  }
}

function healthReason(against: readonly GrpcStatusName[]): string {
  const silent = NAMES.filter((name) => grpcVerdict(GRPC_STATUS[name]) === 'nothing');
  return `${against.join(', ')} counts against the health of the upstream, with or without a message; ${CONSECUTIVE_FAILURES} failures in a row may eject it. ${silent.join(', ')} says nothing about the upstream. Every other status counts as a success of the upstream.`;
}
