import { Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import type { RequestRecord } from '../../../api/client.ts';
import { groupByDay } from './day-groups.ts';
import { RequestRow, type RowContext } from './request-row.tsx';
import classes from './request-table.module.css';

/** The columns; on narrow pages the last ones are left out. */
const COLUMNS = [
  ['time', 'Time'],
  ['status', 'Status'],
  ['method', 'Method'],
  ['path', 'Path'],
  ['grpc', 'gRPC'],
  ['duration', 'Duration'],
  ['retries', 'Retries'],
  ['upstream', 'Upstream'],
  ['caller', 'Caller'],
] as const;

const SKELETON_ROWS = 12;

interface RequestTableProps {
  /** undefined: they are being loaded. */
  readonly rows: readonly RequestRecord[] | undefined;
  readonly context: Omit<RowContext, 'fullMs'>;
  /** Shown in place of a table without rows. */
  readonly empty: ReactNode;
}

/** The requests, grouped by day, a row for each. A row leads to its request as a whole. */
export function RequestTable({ rows, context, empty }: RequestTableProps) {
  if (rows?.length === 0) return empty;
  // A column that would be empty takes room from the paths.
  const hasGrpc = rows?.some(({ grpc_status: status }) => status !== null) === true;
  const columns = COLUMNS.filter(([name]) => name !== 'grpc' || hasGrpc);
  const full = { ...context, fullMs: fullDuration(rows ?? []) };
  return (
    // A region that scrolls must be reachable by keyboard.
    <div className={classes.scroll} role="region" aria-label="Requests" tabIndex={0}>
      <table className={classes.table} aria-busy={rows === undefined}>
        <thead>
          <tr>
            {columns.map(([name, header]) => (
              <th key={name} data-column={name} scope="col">
                {header}
              </th>
            ))}
          </tr>
        </thead>
        {rows === undefined ? (
          <SkeletonRows columns={columns} />
        ) : (
          groupByDay(rows).map(({ day, rows: of }) => (
            <tbody key={day}>
              <tr className={classes.day}>
                {/* Narrow pages have two columns; more would keep the room of those that are left out. */}
                <th colSpan={2} scope="rowgroup">
                  {day}
                </th>
              </tr>
              {of.map((record) => (
                <RequestRow key={record.id} record={record} context={full} hasGrpc={hasGrpc} />
              ))}
            </tbody>
          ))
        )}
      </table>
    </div>
  );
}

/** The duration whose bar is full: that of most rows, so that one slow request does not make all others look the same. */
function fullDuration(rows: readonly RequestRecord[]): number {
  const durations = rows.map(({ timing }) => timing.total_ms).toSorted((a, b) => a - b);
  return durations[Math.floor(durations.length * 0.95)] ?? durations.at(-1) ?? 1;
}

function SkeletonRows({ columns }: { readonly columns: readonly (readonly [string, string])[] }) {
  return (
    <tbody>
      {Array.from({ length: SKELETON_ROWS }, (_none, index) => (
        <tr key={index}>
          {columns.map(([name]) => (
            <td key={name} data-column={name}>
              {name !== 'retries' && (
                <Skeleton height={12} width={name === 'path' ? '64%' : '80%'} />
              )}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}
