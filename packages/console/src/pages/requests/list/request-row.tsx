import { grpcStatusText, isGrpcFailure } from '@gateway/client/grpc-status';
import { Anchor } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { RequestRecord } from '../../../api/client.ts';
import { msText } from '../../../ui/ms-text.ts';
import { visibleText } from '../../../ui/visible-text.ts';
import { ownPath } from '../request-path.ts';
import { requestsSearch, withOpen, withRequestFilters } from '../requests-search.ts';
import { StatusCode } from '../status-code.tsx';
import { timeOfDay } from './day-groups.ts';
import classes from './request-table.module.css';
import { ROW_ATTRIBUTE } from './row-keys.ts';

const RowLink = createLink(Anchor<'a'>);

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
    <tr className={classes.row} data-open={isOpen || undefined} {...{ [ROW_ATTRIBUTE]: id }}>
      <td data-column="time">
        <time dateTime={at}>{timeOfDay(at)}</time>
      </td>
      <td data-column="status">
        <StatusCode record={record} />
      </td>
      <td data-column="method">{method}</td>
      <th data-column="path" scope="row">
        <PathCell record={record} isOpen={isOpen} />
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

interface PathCellProps {
  readonly record: RequestRecord;
  readonly isOpen: boolean;
}

/** The route, the rest of the path, and why it failed. */
function PathCell({ record, isOpen }: PathCellProps) {
  const { id, method, path, route, error_code: code, outcome, received_at: at, timing } = record;
  const reason = code ?? (outcome === 'client_aborted' ? 'caller left' : null);
  return (
    <>
      <span className={classes.path}>
        {route !== null && (
          <RowLink
            to="/requests"
            search={(now) => withRequestFilters(requestsSearch(now), { route })}
            className={classes.chip ?? ''}
            title={`Only requests of ${visibleText(route)}`}
          >
            {visibleText(route)}
          </RowLink>
        )}
        <RowLink
          to="/requests"
          search={(now) => withOpen(requestsSearch(now), isOpen ? undefined : id)}
          resetScroll={false}
          replace={isOpen}
          preload={false}
          className={classes.link ?? ''}
          data-row-link
          aria-label={visibleText(`${method} ${path}`)}
          aria-current={isOpen || undefined}
        >
          {visibleText(ownPath(record))}
        </RowLink>
        {reason !== null && <span className={classes.reason}>{reason}</span>}
      </span>
      <span className={classes.meta}>
        {method} · {timeOfDay(at)} · {msText(timing.total_ms)}
      </span>
    </>
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
