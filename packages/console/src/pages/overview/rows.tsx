import type { ReactNode } from 'react';
import classes from './rows.module.css';

interface RowsProps<Item> {
  readonly items: readonly Item[];
  readonly itemKey: (item: Item) => string;
  /** What stands at the start of a row, and what at its end. */
  readonly children: (item: Item) => readonly [start: ReactNode, end: ReactNode];
}

/** A short list in a part of the overview. */
export function Rows<Item>({ items, itemKey, children }: RowsProps<Item>) {
  return (
    <ul className={classes.rows}>
      {items.map((item) => {
        const [start, end] = children(item);
        return (
          <li key={itemKey(item)} className={classes.row}>
            <span>{start}</span>
            <span>{end}</span>
          </li>
        );
      })}
    </ul>
  );
}
