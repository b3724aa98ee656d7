import { Box, Skeleton, Table } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './data-table.module.css';

export interface Column<Row> {
  readonly key: string;
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  readonly align?: 'right';
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
}

const SKELETON_ROWS = 5;

/** A table that scrolls sideways where it does not fit. The first column is the heading of its row. */
export function DataTable<Row>({ label, columns, rows, rowKey, empty }: DataTableProps<Row>) {
  if (rows?.length === 0) return empty;
  return (
    // A region that scrolls must be reachable by keyboard.
    <Box className={classes.scroll} role="region" aria-label={label} tabIndex={0}>
      <Table highlightOnHover verticalSpacing="xs" aria-busy={rows === undefined}>
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ key, header, align, visibleFrom }) => (
              <Table.Th key={key} {...cellProps(align, visibleFrom)}>
                {header}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows === undefined
            ? Array.from({ length: SKELETON_ROWS }, (_none, index) => (
                <Table.Tr key={index}>
                  <Table.Td colSpan={columns.length}>
                    <Skeleton height={16} />
                  </Table.Td>
                </Table.Tr>
              ))
            : rows.map((row) => (
                <Table.Tr key={rowKey(row)}>
                  {columns.map(({ key, cell, align, visibleFrom }, index) => (
                    <Table.Td
                      key={key}
                      {...(index === 0 && { component: 'th' as const, scope: 'row' })}
                      {...cellProps(align, visibleFrom)}
                    >
                      {cell(row)}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
        </Table.Tbody>
      </Table>
    </Box>
  );
}

function cellProps(align: 'right' | undefined, visibleFrom: Column<never>['visibleFrom']) {
  return {
    ...(align === undefined ? {} : { ta: align }),
    ...(visibleFrom === undefined ? {} : { visibleFrom }),
  };
}
