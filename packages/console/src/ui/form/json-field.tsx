import { Textarea } from '@mantine/core';
import { useState } from 'react';
import { useField } from './form-context.ts';

interface JsonFieldProps {
  readonly path: string;
  readonly label: string;
  readonly description?: string;
}

const MONOSPACE = { input: { fontFamily: 'var(--mantine-font-family-monospace)' } };

/** A value of any form, as JSON. Text that is no JSON is sent as it is, so that the API says what it expects. */
export function JsonField({ path, ...props }: JsonFieldProps) {
  const { value, errorWithin, set } = useField(path);
  const [text, setText] = useState(() => JSON.stringify(value ?? null, null, 2));
  return (
    <Textarea
      {...props}
      data-path={path}
      autosize
      minRows={2}
      maxRows={12}
      autoComplete="off"
      spellCheck={false}
      styles={MONOSPACE}
      value={text}
      error={errorWithin}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value);
        set(parsed(currentTarget.value));
      }}
    />
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
