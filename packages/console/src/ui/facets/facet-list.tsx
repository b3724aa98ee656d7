import { Combobox } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './facet.module.css';

interface FacetListProps {
  /** What is filtered by. */
  readonly label: string;
  readonly children: ReactNode;
}

/** The list of a filter. It scrolls, so the keyboard has to reach it. */
export function FacetList({ label, children }: FacetListProps) {
  return (
    <Combobox.Options className={classes.options ?? ''} aria-label={label} tabIndex={0}>
      {children}
    </Combobox.Options>
  );
}
