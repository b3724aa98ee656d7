import { grpcStatusText, isGrpcFailure } from '@gateway/client/grpc-status';
import type { RequestAttempt, RequestRecord } from '../../../api/client.ts';
import { msText } from '../../../ui/ms-text.ts';
import { retryText } from '../retry-text.ts';
import { attemptFailure } from './attempt-failures.ts';
import { refusalOf, type Refusal } from './refusals.ts';

/** What happened to a request. Texts between backticks are names. */
export interface Verdict {
  /** good: as the caller wanted; warn: the caller was refused, or left; bad: something failed. */
  readonly tone: 'good' | 'warn' | 'bad';
  /** One sentence: what happened, who, and why. */
  readonly text: string;
  /** What can be changed; absent: nothing needs to be. */
  readonly change?: string;
}

/**
 * Says in one sentence what happened to a request, from its record alone.
 *
 * @param upstreamOf names an upstream by its id
 */
export function verdictOf(
  record: RequestRecord,
  upstreamOf: (id: string) => string = (id) => id,
): Verdict {
  const { outcome, error_code: code, attempts } = record;
  const last = attempts.at(-1);
  if (outcome === 'client_aborted') return leftVerdict(record);
  if (code !== null && last === undefined) return refusedVerdict(record, refusalOf(code), code);
  if (code !== null && last !== undefined) return failedVerdict(record, last, upstreamOf, code);
  if (last === undefined) return answeredByGateway(record);
  if (outcome !== 'success') return failedVerdict(record, last, upstreamOf);
  return answeredVerdict(record, last, upstreamOf);
}

function refusedVerdict(record: RequestRecord, refusal: Refusal, code: string): Verdict {
  const { status, error_stage: stage } = record;
  const by = stage === null ? '' : ` at the stage ${stage.replaceAll('_', ' ')}`;
  return {
    tone: status !== null && status >= 500 ? 'bad' : 'warn',
    text: `Refused${by} with ${answerText(status, code)}: ${clause(refusal.why, record)}; nothing was sent to an upstream.`,
    change: clause(refusal.change, record),
  };
}

function failedVerdict(
  record: RequestRecord,
  last: RequestAttempt,
  upstreamOf: (id: string) => string,
  code?: string,
): Verdict {
  const refusal = code === undefined ? undefined : refusalOf(code);
  const why = failureOf(record, last, upstreamOf(last.upstream), refusal);
  const answer = code === undefined ? '' : ` with ${answerText(record.status, code)}`;
  const tries = record.attempts.length > 1 ? ` in attempt ${record.attempts.length}` : '';
  return {
    tone: 'bad',
    text: `Failed${answer}${tries}: ${why}${notRetried(record, last)}.`,
    ...(refusal === undefined ? {} : { change: clause(refusal.change, record) }),
  };
}

function answerText(status: number | null, code: string): string {
  return status === null ? `\`${code}\`` : `${status} \`${code}\``;
}

/** Why the last attempt failed, as a clause. */
function failureOf(
  record: RequestRecord,
  last: RequestAttempt,
  upstream: string,
  refusal: Refusal | undefined,
): string {
  if (last.error !== undefined) return attemptFailure(last.error, upstream);
  const answered = `${upstream} answered ${statusOf(last)}`;
  if (isFailedStatus(last)) return answered;
  // The status was good, so it was what came after it.
  if (refusal === undefined) return `${answered}, and its response broke off before its end`;
  return `${answered}, then ${clause(refusal.why, record)}`;
}

function isFailedStatus({ status = 0, grpc_status: grpc }: RequestAttempt): boolean {
  return status >= 500 || isGrpcFailure(grpc);
}

function statusOf({ status, grpc_status: grpc }: RequestAttempt): string {
  if (grpc === undefined || grpc === 0) return String(status);
  return `${status} with the gRPC status ${grpcStatusText(grpc)}`;
}

/** `; not retried, because …`, if a retry could be expected. */
function notRetried(record: RequestRecord, last: RequestAttempt): string {
  const text = retryText(last, record);
  if (text === undefined || last.retry?.retried === true) return '';
  const again = record.attempts.length > 1 ? 'not retried again' : 'not retried';
  const because = text.replace('Not retried: ', '').replace(/\.$/, '');
  return `; ${again}, because ${because}`;
}

function leftVerdict(record: RequestRecord): Verdict {
  const { status, attempts, timing } = record;
  const after = `The caller disconnected after ${msText(timing.total_ms)}`;
  const sent = attempts.length === 0 ? ', before anything was sent to an upstream' : '';
  return {
    tone: 'warn',
    text:
      status === null
        ? `${after}${sent === '' ? ', before the response began' : sent}.`
        : `${after}, before it had the whole response of ${status}.`,
    change: 'Compare the time with the timeout of the caller.',
  };
}

function answeredByGateway(record: RequestRecord): Verdict {
  const { status, kind, policies, idempotency } = record;
  if (kind === 'preflight') {
    return {
      tone: 'good',
      text: `The gateway answered the preflight of a browser with ${status}.`,
    };
  }
  if (idempotency === 'replayed') {
    return {
      tone: 'good',
      text: `Answered ${status} with the stored response of the first request with its idempotency key; nothing was sent to an upstream.`,
    };
  }
  const field = policies?.find((one) => one === 'respond' || one === 'redirect');
  const why = field === undefined ? '' : `, as \`${field}\` of the route says`;
  return {
    tone: 'good',
    text: `The gateway answered ${status} itself${why}; nothing was sent to an upstream.`,
  };
}

function answeredVerdict(
  record: RequestRecord,
  last: RequestAttempt,
  upstreamOf: (id: string) => string,
): Verdict {
  const { status, attempts, timing } = record;
  const refused = (status ?? 0) >= 400 || (last.grpc_status ?? 0) > 0;
  const tries = retriedText(attempts, upstreamOf);
  const version = record.route_version === null ? '' : ` (version ${record.route_version})`;
  return {
    tone: refused ? 'warn' : 'good',
    text: `${upstreamOf(last.upstream)}${version} answered ${statusOf(last)} after ${msText(timing.total_ms)}${tries}.`,
    ...(refused
      ? { change: 'The status is the answer of the service; the gateway passed it on.' }
      : {}),
  };
}

/** What the attempts before the last one met. */
function retriedText(
  attempts: readonly RequestAttempt[],
  upstreamOf: (id: string) => string,
): string {
  const [first] = attempts;
  if (first === undefined || attempts.length === 1) return '';
  const retries = attempts.length === 2 ? '1 retry' : `${attempts.length - 1} retries`;
  const upstream = upstreamOf(first.upstream);
  const met =
    first.error === undefined
      ? `${upstream} answered ${statusOf(first)}`
      : attemptFailure(first.error, upstream);
  return `, with ${retries}: first ${met}`;
}

function clause(text: Refusal['why'], record: RequestRecord): string {
  return typeof text === 'string' ? text : text(record);
}
