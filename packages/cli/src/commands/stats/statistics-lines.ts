import type { components } from '@gateway/client';
import { grpcStatusText } from '@gateway/client/grpc-status';
import { printable } from '../../output/printable.ts';
import { alignedLines } from '../../output/table.ts';
import { countText, msText, shareText as partText, countedText } from '@gateway/client/measures';
import type { Terminal } from '../../terminal/terminal.ts';
import { stepBegins, type Step } from './steps.ts';

type Statistics = components['schemas']['Statistics'];
type Counted = Statistics['total'];
type Look = Pick<Terminal, 'columns' | 'unicode' | 'colour'>;

const MIN_BAR = 10;
const MAX_BAR = 40;
const NONE: Counted = { requests: 0, errors: 0, p50_ms: null, p95_ms: null, p99_ms: null };

interface Shown {
  readonly step: Step;
  /** Those with the status 429; undefined: there are none. */
  readonly limited: Statistics['groups'][number] | undefined;
  readonly look: Look;
}

/** Statistics as a person reads them: the totals, and a row with a bar for each step. */
export function statisticsLines(
  title: string,
  { from, to, total, steps, grpc_statuses: grpcStatuses }: Statistics,
  { step, limited, look }: Shown,
): string[] {
  const { requests, errors, p50_ms, p95_ms, p99_ms } = total;
  const refused =
    limited === undefined
      ? ''
      : `, ${countText(limited.requests)} with 429 (${percentText(limited.requests, requests)})`;
  const counts = `${countedText(requests, 'request')}, ${countedText(errors, 'error')} (${shareText(total)})${refused}`;
  const durations = `p50 ${optionalMs(p50_ms)}, p95 ${optionalMs(p95_ms)}, p99 ${optionalMs(p99_ms)}`;
  const head = [
    look.colour('bold', printable(title)),
    look.colour('dim', `${timeText(from)} to ${timeText(to)}`),
    requests === 0 ? counts : `${counts}, ${durations}`,
    ...(grpcStatuses.length === 0 ? [] : [grpcText(grpcStatuses)]),
  ];
  if (requests === 0) return head;
  const byBegin = new Map(steps.map((one) => [Date.parse(one.at), one]));
  const limitedAt =
    limited && new Map(limited.steps.map((one) => [Date.parse(one.at), one.requests]));
  const rows = stepBegins(Date.parse(from), Date.parse(to), step).map((at) => {
    const limitedThen = limitedAt === undefined ? undefined : (limitedAt.get(at) ?? 0);
    return { at, counted: byBegin.get(at) ?? NONE, limited: limitedThen };
  });
  return [...head, '', ...rowLines(rows, look)];
}

interface Row {
  readonly at: number;
  readonly counted: Counted;
  /** How many had the status 429; undefined: none in the period, so there is no column. */
  readonly limited: number | undefined;
}

/** Such as `gRPC calls by status: 0 OK 10, 14 UNAVAILABLE 2`. */
function grpcText(statuses: Statistics['grpc_statuses']): string {
  const ends = statuses.map(
    (one) => `${grpcStatusText(one.grpc_status)} ${countText(one.requests)}`,
  );
  return `gRPC calls by status: ${ends.join(', ')}`;
}

function rowLines(rows: readonly Row[], look: Look): string[] {
  const left = alignedLines([
    ['TIME', 'REQUESTS'],
    ...rows.map((row) => [
      timeText(new Date(row.at).toISOString()),
      countText(row.counted.requests).padStart('REQUESTS'.length),
    ]),
  ]);
  const hasLimited = rows.some((row) => row.limited !== undefined);
  const right = alignedLines([
    ['ERRORS', 'SHARE', ...(hasLimited ? ['   429'] : []), 'P50', 'P95', 'P99'],
    ...rows.map((row) => [
      countText(row.counted.errors).padStart('ERRORS'.length),
      row.counted.requests === 0 ? '-' : shareText(row.counted),
      ...(row.limited === undefined ? [] : [countText(row.limited).padStart(6)]),
      ...[row.counted.p50_ms, row.counted.p95_ms, row.counted.p99_ms].map(optionalMs),
    ]),
  ]);
  const widthOf = (lines: readonly string[]) => Math.max(...lines.map(({ length }) => length));
  const room = look.columns - widthOf(left) - widthOf(right) - 4;
  const width = Math.min(MAX_BAR, Math.max(MIN_BAR, room));
  const most = Math.max(...rows.map((row) => row.counted.requests));
  const bars = rows.map((row) => bar(row.counted, { most, width, look }));
  const heading = (text: string) => look.colour('dim', text);
  return left.map((text, at) => {
    const middle = bars[at - 1] ?? ' '.repeat(width);
    const line = `${text}  ${middle}  ${right[at] ?? ''}`;
    return at === 0 ? heading(line) : line;
  });
}

/** As long as the step has requests, with the share of errors at its end. */
function bar(
  { requests, errors }: Counted,
  { most, width, look }: { most: number; width: number; look: Look },
): string {
  const [good, bad] = look.unicode ? ['█', '▒'] : ['#', 'x'];
  const length = requests === 0 ? 0 : Math.max(1, Math.round((requests / most) * width));
  // An error is never too rare to be seen.
  const failed = errors === 0 ? 0 : Math.max(1, Math.round((errors / requests) * length));
  return (
    look.colour('green', good.repeat(length - failed)) +
    look.colour('red', bad.repeat(failed)) +
    ' '.repeat(width - length)
  );
}

/** The share of errors. */
export function shareText({ errors, requests }: Pick<Counted, 'errors' | 'requests'>): string {
  return percentText(errors, requests);
}

/** A part of a whole, such as `0.02 %`. If the whole is 0, so is the part. */
export function percentText(part: number, whole: number): string {
  return partText(whole === 0 ? 0 : part / whole);
}

/** A duration; a dash if there is none. */
export const optionalMs = (ms: number | null): string => (ms === null ? '-' : msText(ms));

/** Such as `2026-03-01 09:00Z`: the API counts by minutes. */
const timeText = (time: string): string => `${time.slice(0, 10)} ${time.slice(11, 16)}Z`;
