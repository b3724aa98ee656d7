import type { ReactNode } from 'react';
import classes from './rows.module.css';

interface RowsProps<Item> {
  readonly items: readonly Item[];
  readonly itemKey: (item: Item) => string;
  /** What stands at the start of a row, what at its end, and a note after that. */
  readonly children: (item: Item) => readonly [start: ReactNode, end: ReactNode, note?: ReactNode];
}

/**
 * A short list in a part of the overview. A row is one line: what does not fit at its start is cut. A link at the start is
 * that of the whole row.
 */
export function Rows<Item>({ items, itemKey, children }: RowsProps<Item>) {
  return (
    <ul className={classes.rows}>
      {items.map((item) => {
        const [start, end, note] = children(item);
        return (
          <li key={itemKey(item)} className={classes.row}>
            <span className={classes.start}>{start}</span>
            <span className={classes.end}>{end}</span>
            {note !== undefined && <span className={classes.note}>{note}</span>}
          </li>
        );
      })}
    </ul>
  );
}
