import type { components } from '@gateway/client';
import { grpcStatusText, isGrpcFailure } from '@gateway/client/grpc-status';
import { bytesText, countText, msText } from '@gateway/client/measures';
import { printable } from '../../output/printable.ts';
import { styleOfOutcome } from '../../output/meanings.ts';
import { labelled } from '../../output/wrap.ts';
import type { Style } from '../../output/colours.ts';
import { timeLines } from './time-lines.ts';
import type { NamedRecord } from './named-record.ts';
import { timelineLines, type Look } from './timeline.ts';

type RequestRecord = components['schemas']['RequestRecord'];

/** A request as a person reads it: what was asked, how it ended, where the time went, and who took part. */
export function recordLines(record: RequestRecord, named: NamedRecord, look: Look): string[] {
  const { method, path, status, outcome, error_code, error_stage, timing } = record;
  const style = styleOfRecord(record);
  const stage = error_stage === null ? '' : ` by ${printable(error_stage)}`;
  const code = error_code === null ? '' : ` (${error_code}${stage})`;
  const grpc = record.grpc_status === null ? '' : ` gRPC ${grpcStatusText(record.grpc_status)}`;
  const end = look.colour(style, `${status ?? 'no status'}${grpc} ${outcome}${code}`);
  return [
    look.colour('bold', `${method} ${printable(path)}`),
    `${end} after ${msText(timing.total_ms)}`,
    ...timeLines(record),
    '',
    ...timelineLines(record, named, look),
    '',
    ...factLines(facts(record, named), look.columns),
  ];
}

function styleOfRecord({ outcome, status, grpc_status: grpcStatus }: RequestRecord): Style {
  if (grpcStatus !== null && isGrpcFailure(grpcStatus)) return 'red';
  return styleOfOutcome(outcome, status) ?? 'green';
}

/** A label on the left of each fact. The values are texts of words, such as a list of header names, or short. */
function factLines(
  known: readonly (readonly [name: string, value: string])[],
  columns: number,
): string[] {
  const width = Math.max(...known.map(([name]) => name.length));
  return known.flatMap(([name, value]) =>
    labelled(`  ${name.padEnd(width)}  `, printable(value), columns),
  );
}

/** What is known of the request. */
function facts(
  record: RequestRecord,
  { service, token, upstream: urlOf }: NamedRecord,
): [name: string, value: string][] {
  const { rate_limit: quota, route, route_version, environment, config_version } = record;
  const version = route_version === null ? '' : `, version ${route_version}`;
  const known: [string, string | null][] = [
    [record.kind, record.id],
    ['copy of', record.parent_id],
    ['received', record.received_at],
    ['route', route === null ? null : `${route}${version}`],
    ['reached by', record.match],
    ['environment', environment],
    ['configuration', config_version === null ? null : `version ${config_version}`],
    ['data plane', record.data_plane],
    ['policies', record.policies?.join(', ') ?? null],
    ['service', service],
    ['upstream', record.upstream && urlOf(record.upstream.id)],
    ['upstream request', record.upstream_request_id],
    ['retries', String(record.retry_count)],
    [
      'quota',
      quota &&
        `${countText(quota.remaining)} of ${countText(quota.limit)} left, the window ended ${msText(quota.reset_seconds * 1000)} later`,
    ],
    ['idempotency', record.idempotency],
    ['token', token],
    ['subject', record.subject],
    ['client', record.client_ip],
    ['client request', record.client_request_id],
    ['host', record.host],
    ['header names', record.header_names?.join(', ') ?? null],
    ['bodies', `${bytesText(record.request_bytes)} in, ${bytesText(record.response_bytes)} out`],
    ['trace', record.trace_id],
  ];
  return known.filter((fact): fact is [string, string] => fact[1] !== null);
}
