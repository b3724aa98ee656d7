import type { components } from '@gateway/client';
import { grpcStatusText } from '@gateway/client/grpc-status';
import { msText } from '../../output/durations.ts';
import type { Column } from '../../output/table.ts';

export type RequestRecord = components['schemas']['RequestRecord'];

export const requestColumns: readonly Column<RequestRecord>[] = [
  { title: 'TIME', of: ({ received_at }) => received_at },
  { title: 'STATUS', of: statusText },
  { title: 'OUTCOME', of: ({ outcome }) => outcome },
  { title: 'TOOK', of: ({ timing }) => msText(timing.total_ms) },
  { title: 'RETRIES', of: ({ retry_count }) => retry_count },
  { title: 'METHOD', of: ({ method }) => method },
  { title: 'PATH', of: ({ path }) => path },
  { title: 'ID', of: ({ id }) => id },
  { title: 'ERROR', wide: true, of: ({ error_code }) => error_code },
  { title: 'UPSTREAM', wide: true, of: ({ upstream }) => upstream?.url },
  { title: 'TOKEN', wide: true, of: ({ token_id }) => token_id },
  { title: 'DATA PLANE', wide: true, of: ({ data_plane }) => data_plane },
];

/** A gRPC call that fails has mostly the status 200. */
function statusText({ status, grpc_status: grpcStatus }: RequestRecord): number | string | null {
  return grpcStatus === null ? status : `${status ?? '-'} gRPC ${grpcStatusText(grpcStatus)}`;
}
