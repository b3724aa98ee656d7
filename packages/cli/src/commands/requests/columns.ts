import type { components } from '@gateway/client';
import { grpcStatusText, isGrpcFailure } from '@gateway/client/grpc-status';
import type { NameOf } from '../../lookup/resource-names.ts';
import { msText } from '@gateway/client/measures';
import { styleOfOutcome } from '../../output/meanings.ts';
import type { Column } from '../../output/table.ts';

export type RequestRecord = components['schemas']['RequestRecord'];

export const requestColumns = (nameOf: NameOf): readonly Column<RequestRecord>[] => [
  { title: 'TIME', time: true, of: ({ received_at }) => received_at },
  { title: 'STATUS', of: statusText, style: statusStyle },
  {
    title: 'OUTCOME',
    shrinks: 12,
    of: ({ outcome }) => outcome,
    style: statusStyle,
  },
  { title: 'TOOK', of: ({ timing }) => msText(timing.total_ms) },
  {
    title: 'RETRIES',
    leftOut: 1,
    of: ({ retry_count }) => retry_count,
    style: ({ retry_count }) => (retry_count > 0 ? 'yellow' : undefined),
  },
  { title: 'METHOD', leftOut: 2, of: ({ method }) => method },
  { title: 'PATH', shrinks: 28, keepsEnd: true, of: ({ path }) => path },
  { title: 'ID', of: ({ id }) => id },
  { title: 'ERROR', wide: true, of: ({ error_code }) => error_code },
  { title: 'UPSTREAM', wide: true, of: ({ upstream }) => upstream?.url },
  { title: 'TOKEN', wide: true, of: ({ token_id }) => nameOf(token_id) },
  { title: 'DATA PLANE', wide: true, of: ({ data_plane }) => data_plane },
];

/** The status says more than the outcome: an upstream that answers 404 is a success of the gateway. */
function statusStyle({ status, outcome, grpc_status: grpcStatus }: RequestRecord) {
  if (grpcStatus !== null && isGrpcFailure(grpcStatus)) return 'red';
  return styleOfOutcome(outcome, status);
}

/** A gRPC call that fails has mostly the status 200. */
function statusText({ status, grpc_status: grpcStatus }: RequestRecord): number | string | null {
  return grpcStatus === null ? status : `${status ?? '-'} gRPC ${grpcStatusText(grpcStatus)}`;
}
