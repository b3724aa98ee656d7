import { ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import classes from './fold-button.module.css';

interface FoldButtonProps {
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  /** The id of what it unfolds. */
  readonly controls: string;
  readonly id?: string;
  /** The ids of what says more about it. */
  readonly describedBy?: string;
  /** Whether it is what opens the row of a list that it stands in, for the keyboard. */
  readonly opensRow?: boolean;
  /** For its place. How it looks is the same everywhere. */
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/** The heading of what can be folded: a chevron and a name. It is pressed with the pointer, Enter or Space. */
export function FoldButton(props: FoldButtonProps) {
  const { isOpen, onToggle, controls, id, describedBy, opensRow, className, children } = props;
  return (
    <button
      type="button"
      id={id}
      className={className === undefined ? classes.button : `${classes.button} ${className}`}
      aria-expanded={isOpen}
      aria-controls={controls}
      aria-describedby={describedBy}
      data-row-link={opensRow === true ? '' : undefined}
      onClick={onToggle}
    >
      <ChevronRight size={16} strokeWidth={1.75} className={classes.chevron} aria-hidden />
      {children}
    </button>
  );
}
