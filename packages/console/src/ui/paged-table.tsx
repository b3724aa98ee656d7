import { Paper } from '@mantine/core';
import { DataTable, type DataTableProps } from './data-table.tsx';
import { LoadError } from './load-error.tsx';
import { NothingYet } from './nothing-yet.tsx';
import { Pager } from './pager.tsx';

/** A page of a list, as the API sends it. */
interface ListPage<Row> {
  readonly data: readonly Row[];
  readonly next_cursor: string | null;
}

interface PagedTableProps<Row> extends Omit<DataTableProps<Row>, 'rows'> {
  /** The query of the page. */
  readonly query: {
    readonly data: ListPage<Row> | undefined;
    readonly error: Error | null;
    readonly refetch: () => unknown;
  };
  /** The cursor of the shown page; undefined: the first one. */
  readonly cursor: string | undefined;
  readonly onMove: (cursor: string | undefined) => void;
}

/** The table of a list with several pages. If a refresh fails, it keeps what was shown and says why it failed. */
export function PagedTable<Row>({ query, cursor, onMove, empty, ...table }: PagedTableProps<Row>) {
  const { data, error, refetch } = query;
  const isLast = data === undefined || data.next_cursor === null;
  return (
    <>
      {error !== null && <LoadError error={error} onRetry={() => void refetch()} />}
      {(data !== undefined || error === null) && (
        <Paper withBorder>
          <DataTable {...table} empty={isLast ? empty : <NothingYet />} rows={data?.data} />
        </Paper>
      )}
      <Pager cursor={cursor} nextCursor={data?.next_cursor} onMove={onMove} />
    </>
  );
}
