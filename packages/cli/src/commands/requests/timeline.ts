import type { components } from '@gateway/client';
import { grpcStatusText, isGrpcFailure } from '@gateway/client/grpc-status';
import { msText } from '@gateway/client/measures';
import { printable } from '../../output/printable.ts';
import type { Style } from '../../output/colours.ts';
import { alignedLines } from '../../output/table.ts';
import type { NamedRecord } from './named-record.ts';

type RequestRecord = components['schemas']['RequestRecord'];
type Attempt = RequestRecord['attempts'][number];

export interface Look {
  readonly columns: number;
  readonly unicode: boolean;
  colour(style: Style, text: string): string;
}

const MIN_BAR = 10;
const MAX_BAR = 60;
/** The longest URL that leaves room for the bars. */
const MAX_UPSTREAM = 40;

/** A line for each attempt: when it ran within the request, how long, and how it ended. */
export function timelineLines(
  record: RequestRecord,
  { upstream: urlOf }: Pick<NamedRecord, 'upstream'>,
  look: Look,
): string[] {
  const { attempts, timing } = record;
  if (attempts.length === 0) return ['  The request was not sent to an upstream.'];
  const endMs = Math.max(timing.total_ms, ...attempts.map(endOf), 0.1);
  const left = alignedLines([
    ['#', 'UPSTREAM', 'REGION'],
    ...attempts.map((attempt, at) => [String(at + 1), nameOf(attempt, urlOf), regionOf(attempt)]),
  ]);
  const leftWidth = Math.max(...left.map((line) => line.length));
  const ends = attempts.map((attempt) => `${msText(attempt.duration_ms)}  ${resultOf(attempt)}`);
  const endWidth = Math.max(...ends.map((text) => text.length));
  const room = look.columns - leftWidth - endWidth - 8;
  const width = Math.min(MAX_BAR, Math.max(MIN_BAR, room));
  const scale = `0${msText(endMs).padStart(width - 1)}`;
  return [
    look.colour('dim', `  ${(left[0] ?? '').padEnd(leftWidth)}  ${scale}`),
    ...attempts.map((attempt, at) => {
      const style = hasFailed(attempt) ? 'red' : 'green';
      const bar = look.colour(style, barOf(attempt, { endMs, width, unicode: look.unicode }));
      return `  ${(left[at + 1] ?? '').padEnd(leftWidth)}  ${bar}  ${ends[at] ?? ''}`;
    }),
  ];
}

const endOf = ({ started_ms, duration_ms }: Attempt): number => started_ms + duration_ms;

function nameOf({ upstream: id }: Attempt, urlOf: (id: string) => string): string {
  const name = printable(urlOf(id));
  return name.length <= MAX_UPSTREAM ? name : `${name.slice(0, MAX_UPSTREAM - 1)}…`;
}

const regionOf = ({ region }: Attempt): string => printable(region ?? '-');

const hasFailed = ({ error, status = 0, grpc_status: grpcStatus }: Attempt): boolean =>
  error !== undefined || status >= 500 || isGrpcFailure(grpcStatus);

function resultOf(attempt: Attempt): string {
  const { status, error, grpc_status: grpcStatus, retry } = attempt;
  const grpc = grpcStatus === undefined ? '' : ` gRPC ${grpcStatusText(grpcStatus)}`;
  const result = error ?? `${status ?? 'no status'}${grpc}`;
  // A caller's mistake, such as 404, is no reason to expect a retry.
  const isExpected = status === undefined || hasFailed(attempt);
  if (retry === undefined || !isExpected) return printable(result);
  return printable(`${result}, ${retry.retried ? 'retried' : 'not retried'}: ${retry.why}`);
}

/** At least one character, within the width. */
function barOf(
  attempt: Attempt,
  { endMs, width, unicode }: { endMs: number; width: number; unicode: boolean },
): string {
  const [full, empty] = unicode ? ['█', '·'] : ['#', '.'];
  const from = Math.min(width - 1, Math.round((attempt.started_ms / endMs) * width));
  const to = Math.min(width, Math.max(from + 1, Math.round((endOf(attempt) / endMs) * width)));
  return empty.repeat(from) + full.repeat(to - from) + empty.repeat(width - to);
}
