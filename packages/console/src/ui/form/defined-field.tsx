import { isAmountUnit } from '@gateway/client/amounts';
import {
  plainText,
  usualValues,
  type FormField,
  type FormFields,
} from '@gateway/client/form-fields';
import { Switch } from '@mantine/core';
import { useState } from 'react';
import { joinedUnits } from '../joined-units.ts';
import { AmountField } from './amount-field.tsx';
import { fieldWords } from './field-help.ts';
import { useField } from './form-context.ts';
import { ChoiceField, ListField, NumberField, SwitchField, TextField } from './fields.tsx';

interface DefinedFieldProps {
  /** Where the value is in the body of the API, such as `rate_limit.limit`. */
  readonly path: string;
  readonly field: FormField;
  /** All fields of the resource. */
  readonly form: FormFields;
}

/** The control of a field as the API defines it: its label, help, unit, bounds, default and choices. */
export function DefinedField({ path, field, form }: DefinedFieldProps) {
  const { kind, label, unit, choices, hasNumbers, fields } = field;
  const { description, ...empty } = fieldWords(field, form);
  const shared = { path, label, description: joinedUnits(description) };
  switch (kind) {
    case 'integer':
    case 'number':
      return isAmountUnit(unit) ? (
        <AmountField {...shared} {...empty} {...boundsOf(field)} unit={unit} />
      ) : (
        <NumberField {...shared} {...empty} {...(unit === undefined ? {} : { unit })} />
      );
    case 'text':
      return <TextField {...shared} {...empty} />;
    case 'switch':
      return <SwitchField {...shared} />;
    case 'choice':
      return <ChoiceField {...shared} choices={choices} />;
    case 'list':
      return <ListField {...shared} {...empty} separator="comma" numbers={hasNumbers} />;
    case 'object':
      return field.nullMeans === undefined ? (
        <InnerFields path={path} fields={fields} form={form} />
      ) : (
        <OptionalFields path={path} field={field} form={form} />
      );
    case 'other':
      throw new Error(`The field ${path} needs a control of its own.`);
  }
}

function boundsOf({ min, max }: FormField): Pick<FormField, 'min' | 'max'> {
  return { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
}

interface InnerFieldsProps extends Pick<DefinedFieldProps, 'path' | 'form'> {
  readonly fields: FormFields;
}

function InnerFields({ path, fields, form }: InnerFieldsProps) {
  return Object.entries(fields).map(([name, inner]) => (
    <DefinedField key={name} path={`${path}.${name}`} field={inner} form={form} />
  ));
}

/** An object that may be null: a switch, and its fields while it is on. */
function OptionalFields({ path, field, form }: DefinedFieldProps) {
  const { label, nullMeans = '', fields } = field;
  const { value, error, set } = useField(path);
  const isOn = typeof value === 'object' && value !== null;
  // Off and on again loses nothing that was chosen.
  const [last, setLast] = useState<unknown>(() => firstValues(fields));
  return (
    <>
      <Switch
        data-path={path}
        label={label}
        description={`Off: ${plainText(nullMeans)}.`}
        checked={isOn}
        error={error}
        onChange={({ currentTarget: { checked } }) => {
          if (!checked) setLast(value);
          set(checked ? last : null);
        }}
      />
      {isOn && <InnerFields path={path} fields={fields} form={form} />}
    </>
  );
}

/** The defaults, and the first value of a choice that has none. */
function firstValues(fields: FormFields): Record<string, unknown> {
  const values = usualValues(fields);
  for (const [name, { kind, choices }] of Object.entries(fields)) {
    if (kind === 'choice') values[name] ??= choices[0]?.[0];
  }
  return values;
}
