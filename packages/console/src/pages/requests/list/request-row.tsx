import { grpcStatusText, isGrpcFailure } from '@gateway/client/grpc-status';
import type { RequestRecord } from '../../../api/client.ts';
import { msText } from '../../../ui/ms-text.ts';
import { ROW_ATTRIBUTE } from '../../../ui/row-link.ts';
import { visibleText } from '../../../ui/visible-text.ts';
import { StatusCode } from '../status-code.tsx';
import { timeOfDay } from './day-groups.ts';
import { PathCell } from './path-cell.tsx';
import classes from './request-table.module.css';

/** What all rows need. */
export interface RowContext {
  /** The id of the request beside the list. */
  readonly open: string | undefined;
  readonly tokenName: (id: string) => string;
  readonly serviceName: (id: string) => string;
  /** The duration whose bar is full, ms. */
  readonly fullMs: number;
}

interface RequestRowProps {
  readonly record: RequestRecord;
  readonly context: RowContext;
  readonly hasGrpc: boolean;
}

/** A request of the list. */
export function RequestRow({ record, context, hasGrpc }: RequestRowProps) {
  const { id, method, retry_count: retries, grpc_status: grpc, received_at: at } = record;
  const { total_ms: ms } = record.timing;
  const isOpen = context.open === id;
  return (
    <tr className={classes.row} data-open-beside={isOpen || undefined} {...{ [ROW_ATTRIBUTE]: '' }}>
      <td data-column="time">
        <time dateTime={at}>{timeOfDay(at)}</time>
      </td>
      <td data-column="status">
        <StatusCode record={record} />
      </td>
      <td data-column="method">{method}</td>
      <th data-column="path" scope="row">
        <PathCell record={record} open={context.open} />
      </th>
      {hasGrpc && (
        <td data-column="grpc" data-failed={isGrpcFailure(grpc ?? undefined) || undefined}>
          {grpc === null ? '' : grpcStatusText(grpc)}
        </td>
      )}
      <td data-column="duration">
        <span className={classes.ms}>{msText(ms)}</span>
        <span className={classes.bar} aria-hidden>
          <span style={{ width: `${Math.min(1, ms / context.fullMs) * 100}%` }} />
        </span>
      </td>
      <td data-column="retries">{retries === 0 ? '' : retries}</td>
      <td data-column="upstream">
        <UpstreamCell record={record} context={context} />
      </td>
      <td data-column="caller">
        <CallerCell record={record} context={context} />
      </td>
    </tr>
  );
}

type CellProps = Pick<RequestRowProps, 'record' | 'context'>;

/** The service by its name, and which of its upstreams it was. */
function UpstreamCell({ record, context }: CellProps) {
  const { upstream, service_id: service, route_version: version } = record;
  if (upstream === null) return <span className={classes.muted}>not sent</span>;
  const name = service === null ? upstream.url : context.serviceName(service);
  const which = version ?? upstream.region;
  return (
    <span>
      {visibleText(name)}
      {which !== null && <span className={classes.muted}> {visibleText(which)}</span>}
    </span>
  );
}

function CallerCell({ record, context }: CellProps) {
  const { token_id: token, subject, client_ip: ip } = record;
  const name = token === null ? subject : context.tokenName(token);
  return name === null ? <span className={classes.muted}>{ip}</span> : visibleText(name);
}
