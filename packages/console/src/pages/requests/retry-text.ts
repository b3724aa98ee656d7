import type { RequestAttempt, RequestRecord } from '../../api/client.ts';
import { hasFailed } from './timeline.ts';

const MADE = reasonsOf({
  nothing_sent: () => 'nothing had reached the upstream.',
  method_idempotent: (method) => `${method} may be repeated.`,
  idempotency_key: (method) =>
    `the request has an idempotency key, and the route repeats ${method} with one.`,
  unsafe_methods_always: (method) => `the route always repeats ${method}.`,
});

const NOT_MADE = reasonsOf({
  status_not_retried: () => 'the route does not retry this status.',
  upstream_forbids: () => 'the upstream asked for no retry.',
  retry_count_used_up: () => 'all retries of the route were made.',
  method_not_idempotent: (method) => `it was sent, and repeating ${method} could do harm.`,
  body_not_kept: () => 'a part of the body was sent, and the gateway does not keep it.',
  budget_used_up: () => 'the retry budget of the service was used up.',
  deadline: () => 'the deadline of the request left no time.',
  caller_left: () => 'the caller had disconnected.',
  response_ended: () => 'the gateway had ended the response.',
  caller_failure: () => 'the request itself failed, such as a body that stopped.',
  key_lease_ended: () => 'the data plane no longer held the idempotency key.',
  service_overloaded: () => 'a limit of the service was reached.',
});

function reasonsOf(texts: Readonly<Record<string, (method: string) => string>>) {
  return new Map(Object.entries(texts));
}

/** What followed an attempt and why, in a sentence; undefined: it needed nothing, or the record does not say. */
export function retryText(
  attempt: Pick<RequestAttempt, 'retry' | 'error' | 'status' | 'grpc_status'>,
  { method }: Pick<RequestRecord, 'method'>,
): string | undefined {
  const { retry, status } = attempt;
  if (retry === undefined) return undefined;
  // A mistake of the caller, such as 404, is no reason to expect a retry.
  const isExpected = status === undefined || hasFailed(attempt);
  if (!isExpected && retry.why === 'status_not_retried') return undefined;
  const { retried, why } = retry;
  // A newer data plane may have reasons that this page does not know.
  const reasons = retried ? MADE : NOT_MADE;
  const reason = reasons.get(why)?.(method) ?? `${why}.`;
  return `${retried ? 'Retried' : 'Not retried'}: ${reason}`;
}
