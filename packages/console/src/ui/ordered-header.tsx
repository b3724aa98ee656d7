import { VisuallyHidden } from '@mantine/core';
import { ArrowDown, ArrowUp } from 'lucide-react';
import classes from './data-table.module.css';

/** The part of a column that its heading shows. */
export interface OrderedColumn {
  readonly header: string;
  /** Whether the header is only for people who do not see the table, because its cells say it. */
  readonly isHeaderHidden?: boolean;
  /** What the API calls the order by this column; absent: the list cannot be ordered by it. */
  readonly order?: string;
  /** Whether the first press shows the largest first. */
  readonly isLargestFirst?: boolean;
}

interface OrderedHeaderProps {
  readonly column: OrderedColumn;
  /** The order of the list, such as `-name`; undefined: that of the API. */
  readonly order: string | undefined;
  readonly onOrder: ((order: string) => void) | undefined;
}

/** The heading of a column. If the list can be ordered by it, a press does so, and the next one reverses that. */
export function OrderedHeader({ column, order, onOrder }: OrderedHeaderProps) {
  const { header, order: own, isLargestFirst = false, isHeaderHidden = false } = column;
  if (isHeaderHidden) return <VisuallyHidden>{header}</VisuallyHidden>;
  if (own === undefined || onOrder === undefined) return header;
  const isOrdered = order === own || order === `-${own}`;
  const isDescending = isOrdered ? order.startsWith('-') : isLargestFirst;
  const next = (isOrdered ? !isDescending : isDescending) ? `-${own}` : own;
  const Arrow = isDescending ? ArrowDown : ArrowUp;
  return (
    <button
      type="button"
      className={classes.order}
      data-ordered={isOrdered || undefined}
      onClick={() => onOrder(next)}
    >
      {header}
      <Arrow size={12} strokeWidth={2} aria-hidden />
    </button>
  );
}

/** Says to people who do not see the arrow how the list is ordered. */
export function ariaSort({ order: own }: OrderedColumn, order: string | undefined) {
  if (own === undefined || order === undefined) return {};
  if (order === own) return { 'aria-sort': 'ascending' as const };
  return order === `-${own}` ? { 'aria-sort': 'descending' as const } : {};
}
