import type { operations } from '@gateway/client';
import { InvalidArgumentError, type Command } from 'commander';
import { grpcStatusOption } from '../../input/grpc-status.ts';
import { amountOption } from '../../input/amounts.ts';
import { checkEnvironment } from '../../lookup/check-environment.ts';
import { tokenId } from '../../lookup/find-token.ts';
import type { Session } from '../../session.ts';

export type RecordQuery = NonNullable<operations['listRequests']['parameters']['query']>;

type StatusFilter = Pick<RecordQuery, 'status' | 'status_class'>;

export interface RecordFilters {
  readonly route?: string;
  readonly status?: StatusFilter;
  readonly grpcStatus?: number;
  readonly outcome?: string;
  readonly failed?: true;
  readonly kind?: string;
  readonly token?: string;
  readonly method?: string;
  readonly errorCode?: string;
  readonly upstream?: string;
  readonly minDurationMs?: number;
}

/** Adds the options that say which requests are shown. */
export const withRecordFilters = (command: Command): Command =>
  command
    .option('--route <route>', 'only to this route')
    .option('--status <status>', 'only with this status, such as 502, or 5xx for a class', status)
    .addOption(grpcStatusOption())
    .option('--outcome <outcome>', 'only with this outcome, such as timeout')
    .option('--failed', 'only those that count as errors: a status of 5xx, or a failed upstream')
    .option('--kind <kind>', 'records of this kind: request, preflight or mirror')
    .option('--token <token>', 'only with the token of this name or id')
    .option('--method <method>', 'only with this method')
    .option('--error-code <code>', 'only with this error of the gateway')
    .option('--upstream <upstream>', 'only if the last attempt went to this URL or id')
    .option('--min-duration-ms <time>', MIN_DURATION_HELP, amountOption({ unit: 'ms' }));

const MIN_DURATION_HELP = 'only if it took at least this long: 1.5s, or a number of milliseconds';

/** The query of these options. The API checks the values; undefined ones are not sent. */
export async function recordQuery(session: Session, filters: RecordFilters): Promise<RecordQuery> {
  const { token } = filters;
  await checkEnvironment(session);
  const query = {
    environment: session.environment,
    route: filters.route,
    ...filters.status,
    grpc_status: filters.grpcStatus,
    outcome: filters.outcome,
    failed: filters.failed && 'true',
    kind: filters.kind,
    token_id: token === undefined ? undefined : await tokenId(session, token),
    method: filters.method,
    error_code: filters.errorCode,
    upstream: filters.upstream,
    min_duration_ms: filters.minDurationMs,
  };
  return query as RecordQuery;
}

/** `none` is the class of requests whose caller left before a response. */
function status(text: string): StatusFilter {
  if (/^([1-5]xx|none)$/.test(text)) {
    return { status_class: text as NonNullable<RecordQuery['status_class']> };
  }
  if (/^[1-5]\d\d$/.test(text)) return { status: Number(text) };
  throw new InvalidArgumentError('It must be a status such as 502, a class such as 5xx, or none.');
}
