import type { ReactNode } from 'react';
import classes from './rows.module.css';

interface RowsProps<Item> {
  readonly items: readonly Item[];
  readonly itemKey: (item: Item) => string;
  /** Whether what stands at the end is only a note. */
  readonly muted?: boolean;
  /** What stands at the start of a row, and what at its end. */
  readonly children: (item: Item) => readonly [start: ReactNode, end: ReactNode];
}

/** A short list in a part of the overview. A row is one line: what does not fit at its start is cut. */
export function Rows<Item>({ items, itemKey, muted = false, children }: RowsProps<Item>) {
  return (
    <ul className={classes.rows} data-muted={muted || undefined}>
      {items.map((item) => {
        const [start, end] = children(item);
        return (
          <li key={itemKey(item)} className={classes.row}>
            <span className={classes.start}>{start}</span>
            <span className={classes.end}>{end}</span>
          </li>
        );
      })}
    </ul>
  );
}
