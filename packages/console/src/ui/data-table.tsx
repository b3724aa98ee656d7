import { Box, Skeleton, Table } from '@mantine/core';
import type { PointerEvent, ReactNode } from 'react';
import { followLink } from './follow-link.ts';
import { ROW_ATTRIBUTE } from './row-link.ts';
import { ariaSort, OrderedHeader, type OrderedColumn } from './ordered-header.tsx';
import classes from './data-table.module.css';

export interface Column<Row> extends OrderedColumn {
  readonly key: string;
  readonly cell: (row: Row) => ReactNode;
  readonly align?: 'right';
  /** Whether it takes one line, and what does not fit is cut, as the first column is. */
  readonly isCut?: boolean;
  /** Below this width of the window the column is left out. */
  readonly visibleFrom?: 'sm' | 'md' | 'lg' | 'xl';
}

export interface DataTableProps<Row> {
  /** Names the table for people who do not see it. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  /** undefined: they are being loaded. */
  readonly rows: readonly Row[] | undefined;
  readonly rowKey: (row: Row) => string;
  /** Shown in place of a table without rows. */
  readonly empty: ReactNode;
  /** Whether a press anywhere on a row follows its link, or presses its button, which is in its first column. */
  readonly hasLinkedRows?: boolean;
  /** The order of the list as the API names it, such as `-name`; undefined: that of the API. */
  readonly order?: string | undefined;
  readonly onOrder?: (order: string) => void;
}

const SKELETON_ROWS = 8;
/** Rows of one length would not look like text. */
const SKELETON_WIDTHS = ['72%', '56%', '84%', '64%'] as const;

/** A table that scrolls sideways where it does not fit. The first column is the heading of its row. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, rowKey, empty, hasLinkedRows = false, order, onOrder } = props;
  if (rows?.length === 0) return empty;
  return (
    // A region that scrolls must be reachable by keyboard.
    <Box
      className={classes.scroll}
      role="region"
      aria-label={label}
      tabIndex={0}
      mod={{ linked: hasLinkedRows }}
    >
      <Table highlightOnHover verticalSpacing="xs" aria-busy={rows === undefined}>
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Table.Th key={column.key} {...cellProps(column)} {...ariaSort(column, order)}>
                <OrderedHeader column={column} order={order} onOrder={onOrder} />
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows === undefined
            ? Array.from({ length: SKELETON_ROWS }, (_none, index) => (
                <Table.Tr key={index}>
                  {columns.map((column, place) => (
                    <Table.Td key={column.key} {...cellProps(column)}>
                      {column.isHeaderHidden !== true && (
                        <Skeleton height={12} width={SKELETON_WIDTHS[(index + place) % 4]} />
                      )}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))
            : rows.map((row) => (
                <Table.Tr
                  key={rowKey(row)}
                  {...{ [ROW_ATTRIBUTE]: '' }}
                  tabIndex={-1}
                  {...(hasLinkedRows && { onClick: followLink })}
                >
                  {columns.map((column, index) => (
                    <Table.Td
                      key={column.key}
                      {...(index === 0 && { component: 'th' as const, scope: 'row' })}
                      {...((index === 0 || column.isCut === true) && { onPointerEnter: nameIfCut })}
                      {...cellProps(column)}
                    >
                      {column.cell(row)}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
        </Table.Tbody>
      </Table>
    </Box>
  );
}

function cellProps<Row>({ align, visibleFrom, isHeaderHidden, isCut }: Column<Row>) {
  return {
    ...(align === undefined ? {} : { ta: align }),
    ...(visibleFrom === undefined ? {} : { visibleFrom }),
    mod: { align, cut: isCut, pinned: isHeaderHidden },
  };
}

/** Shows the whole of a name that its cell cuts. */
function nameIfCut({ currentTarget: cell }: PointerEvent<HTMLElement>): void {
  const isCut = [cell, ...cell.querySelectorAll('a')].some(
    (part) => part.clientWidth > 0 && part.scrollWidth > part.clientWidth,
  );
  cell.title = isCut ? cell.textContent : '';
}
