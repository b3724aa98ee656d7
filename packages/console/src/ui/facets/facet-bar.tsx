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
        <Button variant="subtle" color="gray" px={8} onClick={onClear}>
          Clear
        </Button>
      )}
    </div>
  );
}

interface FacetToggleProps {
  readonly label: string;
  readonly title?: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

/** A filter that is on or off. */
export function FacetToggle({ label, title, isOn, onChange }: FacetToggleProps) {
  return (
    <button
      type="button"
      className={classes.button}
      title={title}
      aria-pressed={isOn}
      onClick={() => onChange(!isOn)}
    >
      {label}
    </button>
  );
}
