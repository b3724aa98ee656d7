import {
  amountFault,
  amountRule,
  amountText,
  apiAmountText,
  parseAmount,
  type AmountUnit,
} from '@gateway/client/amounts';
import { Text, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useField } from './form-context.ts';

interface AmountFieldProps {
  readonly path: string;
  readonly label: string;
  readonly description?: ReactNode;
  readonly unit: AmountUnit;
  /** In the unit. */
  readonly min?: number;
  readonly max?: number;
  /** An empty field is null, which means this. Without it an empty field is an error. */
  readonly emptyMeans?: string;
}

/**
 * A time, a size or a rate: `500ms`, `1m`, `10 MiB`, or a number in the unit of the API, which stands beside it. What is no
 * amount stays as it was typed. The API refuses it, so nothing is saved, and the errors of all fields are seen at once.
 */
export function AmountField(props: AmountFieldProps) {
  const { path, unit, min, max, emptyMeans, ...shown } = props;
  const { value, error, set } = useField(path);
  const [typed, setTyped] = useState<string>();
  const bounds = { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
  const isWrong = typed === undefined && typeof value === 'string';
  const rule = error === undefined ? undefined : amountFault(error, unit, bounds);
  const text = typed ?? textOf(value, unit);
  const inApi = typeof value === 'number' ? apiAmountText(value, unit) : undefined;
  const beside = inApi === undefined || inApi === text ? '' : inApi;
  return (
    <TextInput
      {...shown}
      autoComplete="off"
      spellCheck={false}
      data-path={path}
      value={text}
      error={isWrong ? amountRule(unit, bounds) : rule}
      {...(emptyMeans === undefined ? {} : { placeholder: emptyMeans })}
      rightSection={
        <Text size="xs" c="dimmed">
          {beside}
        </Text>
      }
      rightSectionWidth={beside.length * 7 + 20}
      rightSectionPointerEvents="none"
      onChange={({ currentTarget: { value: now } }) => {
        setTyped(now);
        const isNull = now.trim() === '' && emptyMeans !== undefined;
        set(isNull ? null : (parseAmount(now, unit) ?? now));
      }}
      onBlur={() => setTyped(undefined)}
    />
  );
}

function textOf(value: unknown, unit: AmountUnit): string {
  if (typeof value === 'number') return amountText(value, unit);
  return typeof value === 'string' ? value : '';
}
