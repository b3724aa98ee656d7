import { Text } from '@mantine/core';
import { X } from 'lucide-react';
import type { CSSProperties, ReactNode } from 'react';
import { IconButton } from '../icon-button.tsx';
import { useField } from './form-context.ts';
import classes from './row.module.css';
import { useRowFocus } from './use-row-focus.ts';

interface FormRowsProps {
  /** How many there are. One that is added has the focus. */
  readonly count: number;
  /** The columns of a row where there is room, as CSS has them. */
  readonly columns: string;
  readonly children: ReactNode;
}

/** Rows of fields that can be added and removed. */
export function FormRows({ count, columns, children }: FormRowsProps) {
  const list = useRowFocus(count);
  return (
    <div ref={list} className={classes.rows} style={{ '--row-columns': columns } as CSSProperties}>
      {children}
    </div>
  );
}

interface FormRowProps {
  /** Such as `Version 1`. */
  readonly name: string;
  /** Where the value of the row is in the body of the API. */
  readonly path: string;
  /** It has two fields, which stand below each other where there is no room. */
  readonly isPair?: boolean;
  /** undefined: it cannot be removed. */
  readonly onRemove: (() => void) | undefined;
  readonly children: ReactNode;
}

/** A row, with what the API says of it as a whole below. */
export function FormRow({ name, path, isPair = false, onRemove, children }: FormRowProps) {
  const { error } = useField(path);
  return (
    <div role="group" aria-label={name} className={classes.row} data-pair={isPair || undefined}>
      {children}
      <IconButton
        className={classes.remove}
        icon={X}
        label={`Remove ${name.toLowerCase()}`}
        disabled={onRemove === undefined}
        onClick={onRemove}
      />
      {error !== undefined && (
        <Text className={classes.fault ?? ''} c="var(--mantine-color-error)" role="status">
          {error}
        </Text>
      )}
    </div>
  );
}

/** What follows from the fields of a row, under a label as theirs. */
export function RowNote({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ReactNode;
}) {
  return (
    <div className={classes.note}>
      <span className={classes.noteLabel}>{label}</span>
      <span className={classes.noteText}>{children}</span>
    </div>
  );
}

/** A field of a row that takes its whole width where the fields do not fit side by side. */
export function WideField({ children }: { readonly children: ReactNode }) {
  return <div className={classes.wide}>{children}</div>;
}
