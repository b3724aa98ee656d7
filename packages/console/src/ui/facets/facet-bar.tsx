import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './facet.module.css';

interface FacetBarProps {
  /** Removes all filters; undefined: there are none. */
  readonly onClear: (() => void) | undefined;
  readonly children: ReactNode;
}

/** The search and the filters above a list. */
export function FacetBar({ onClear, children }: FacetBarProps) {
  return (
    <div className={classes.bar} role="group" aria-label="Filters">
      {children}
      {onClear !== undefined && (
        <Button variant="subtle" color="gray" onClick={onClear}>
          Clear
        </Button>
      )}
    </div>
  );
}
