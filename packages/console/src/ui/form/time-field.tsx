import { TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useField } from './form-context.ts';
import { localInputOf, timeOfLocalInput } from './local-input.ts';

interface TimeFieldProps {
  readonly path: string;
  readonly label: string;
  readonly description?: ReactNode;
  /** The value of an empty field. */
  readonly empty: null | undefined;
}

/** A time, typed in the zone of the browser and sent as RFC 3339 in UTC. */
export function TimeField({ path, empty, ...props }: TimeFieldProps) {
  const { value, error, set } = useField(path);
  return (
    <TextInput
      {...props}
      data-path={path}
      type="datetime-local"
      value={typeof value === 'string' ? localInputOf(value) : ''}
      error={error}
      onChange={({ currentTarget: { value: text } }) => set(timeOfLocalInput(text) ?? empty)}
    />
  );
}
