import { NativeSelect, PasswordInput, Switch, Text, Textarea, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useField } from './form-context.ts';
import { groupedNumber, listOf, listText, numberOrText } from './typed-values.ts';

interface FieldProps {
  /** Where the value is in the body of the API, such as `rate_limit.limit`. */
  readonly path: string;
  readonly label: string;
  readonly description?: ReactNode;
}

/** Browsers must not fill in or correct what is configuration. */
const PLAIN = { autoComplete: 'off', spellCheck: false } as const;
const MONOSPACE = { input: { fontFamily: 'var(--mantine-font-family-monospace)' } };

interface TextFieldProps extends Omit<FieldProps, 'label'> {
  readonly label: ReactNode;
  readonly autoFocus?: boolean;
  /** An empty field is null, which means this. Without it an empty field is an empty text. */
  readonly emptyMeans?: string;
  /** In place of the error that the API names at the path. */
  readonly error?: string;
}

/** A line of text. */
export function TextField({ path, emptyMeans, ...props }: TextFieldProps) {
  const { value, error, set } = useField(path);
  return (
    <TextInput
      {...PLAIN}
      error={error}
      data-path={path}
      {...props}
      // A dialog gives the focus to its first control, unless it is told another one.
      data-autofocus={props.autoFocus || undefined}
      value={typeof value === 'string' ? value : ''}
      {...(emptyMeans === undefined ? {} : { placeholder: emptyMeans })}
      onChange={({ currentTarget: { value: text } }) =>
        set(text === '' && emptyMeans !== undefined ? null : text)
      }
    />
  );
}

/** Text of several lines, such as a certificate. An empty field with `emptyMeans` is null. */
export function LongTextField({ path, emptyMeans, ...props }: TextFieldProps) {
  const { value, error, set } = useField(path);
  return (
    <Textarea
      {...PLAIN}
      {...props}
      data-path={path}
      autosize
      minRows={3}
      maxRows={8}
      styles={MONOSPACE}
      value={typeof value === 'string' ? value : ''}
      error={error}
      {...(emptyMeans === undefined ? {} : { placeholder: emptyMeans })}
      onChange={({ currentTarget: { value: text } }) =>
        set(text === '' && emptyMeans !== undefined ? null : text)
      }
    />
  );
}

/** A secret, which no response shows. It is in the draft of the form only, and hidden while it is typed. */
export function SecretField({ path, ...props }: FieldProps) {
  const { value, error, set } = useField(path);
  return (
    <PasswordInput
      {...PLAIN}
      {...props}
      data-path={path}
      // Browsers offer to store what they take for the password of the reader.
      autoComplete="new-password"
      visibilityToggleButtonProps={{ 'aria-label': `Show ${props.label}` }}
      value={typeof value === 'string' ? value : ''}
      error={error}
      // The kit leaves it out, and so no screen reader would say it.
      aria-invalid={error !== undefined}
      onChange={({ currentTarget }) => set(currentTarget.value)}
    />
  );
}

interface NumberFieldProps extends FieldProps {
  /** Stands behind the number, such as `ms`. */
  readonly unit?: string;
  /** An empty field is null, which means this. Without it an empty field is an error. */
  readonly emptyMeans?: string;
}

/** A number. What is no number is sent as it was typed, so that the API says what it expects. */
export function NumberField({ path, unit, emptyMeans, ...props }: NumberFieldProps) {
  const { value, error, set } = useField(path);
  const [typed, setTyped] = useState<string>();
  const shown = typeof value === 'string' ? value : '';
  return (
    <TextInput
      {...PLAIN}
      {...props}
      data-path={path}
      inputMode="decimal"
      value={typed ?? (typeof value === 'number' ? groupedNumber(value) : shown)}
      error={error}
      {...(emptyMeans === undefined ? {} : { placeholder: emptyMeans })}
      {...(unit === undefined
        ? {}
        : { rightSection: <Unit unit={unit} />, rightSectionWidth: unit.length * 9 + 16 })}
      rightSectionPointerEvents="none"
      onChange={({ currentTarget: { value: text } }) => {
        setTyped(text);
        set(text === '' && emptyMeans !== undefined ? null : numberOrText(text));
      }}
      onBlur={() => setTyped(undefined)}
    />
  );
}

function Unit({ unit }: { readonly unit: string }) {
  return (
    <Text size="sm" c="dimmed">
      {unit}
    </Text>
  );
}

interface ChoiceFieldProps extends FieldProps {
  /** Each value with its words. */
  readonly choices: readonly (readonly [value: string, label: string])[];
}

/** One of a few values. */
export function ChoiceField({ path, choices, ...props }: ChoiceFieldProps) {
  const { value, error, set } = useField(path);
  return (
    <NativeSelect
      {...props}
      data-path={path}
      data={choices.map(([one, label]) => ({ value: one, label }))}
      value={typeof value === 'string' ? value : ''}
      error={error}
      onChange={({ currentTarget }) => set(currentTarget.value)}
    />
  );
}

/** True or false. */
export function SwitchField({ path, ...props }: FieldProps) {
  const { value, error, set } = useField(path);
  return (
    <Switch
      {...props}
      data-path={path}
      checked={value === true}
      error={error}
      onChange={({ currentTarget }) => set(currentTarget.checked)}
    />
  );
}

interface ListFieldProps extends FieldProps {
  /** `comma` for short items in one line; `line` for items that may contain a comma, one in each line. */
  readonly separator: 'comma' | 'line';
  /** Items that look like numbers are numbers. */
  readonly numbers?: boolean;
  readonly placeholder?: string;
  /** An empty field is null, which means this. Without it an empty field is an empty list. */
  readonly emptyMeans?: string;
}

/** A list of texts or numbers. */
export function ListField({
  path,
  separator,
  numbers = false,
  emptyMeans,
  ...props
}: ListFieldProps) {
  const { value, errorWithin, set } = useField(path);
  const [text, setText] = useState(() => listText(value, separator));
  const shown = {
    ...PLAIN,
    ...props,
    'data-path': path,
    ...(emptyMeans === undefined ? {} : { placeholder: emptyMeans }),
    value: text,
    error: errorWithin,
    onChange: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) => {
      setText(currentTarget.value);
      const items = listOf(currentTarget.value, separator, numbers);
      set(items.length === 0 && emptyMeans !== undefined ? null : items);
    },
  };
  if (separator === 'comma') return <TextInput {...shown} />;
  return <Textarea {...shown} autosize minRows={2} maxRows={8} />;
}
