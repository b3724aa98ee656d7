import { ROUTE_FORM, usualValues, type FormField } from '@gateway/client/form-fields';
import { Stack, Switch } from '@mantine/core';
import { useState } from 'react';
import { DefinedField } from '../../ui/form/defined-field.tsx';
import { TextField } from '../../ui/form/fields.tsx';
import { useField } from '../../ui/form/form-context.ts';
import { FieldError } from './field-error.tsx';
import { ObjectRows } from './object-rows.tsx';
import { rowLabel } from './row-label.tsx';

const FIELDS = ROUTE_FORM['rewrite']?.fields ?? {};
const NEW_PAIR = { name: '', value: '' };

/** What is changed of requests and responses: nothing, or each part. */
export function RewriteFields() {
  const { value, error, set } = useField('rewrite');
  const isOn = typeof value === 'object' && value !== null;
  // Off and on again loses nothing that was typed.
  const [last, setLast] = useState<unknown>(() => usualValues(FIELDS));
  return (
    <Stack gap="sm">
      <Switch
        data-path="rewrite"
        label="Rewrite requests and responses"
        checked={isOn}
        onChange={({ currentTarget: { checked } }) => {
          if (!checked) setLast(value);
          set(checked ? last : null);
        }}
      />
      <FieldError text={error} />
      {isOn &&
        Object.entries(FIELDS).map(([name, field]) => (
          <Part key={name} path={`rewrite.${name}`} field={field} />
        ))}
    </Stack>
  );
}

interface PartProps {
  readonly path: string;
  readonly field: FormField;
}

/** A text, a list of names, a list of names with values, or an object of these. */
function Part({ path, field }: PartProps) {
  const { kind, fields, label } = field;
  if (kind === 'object') {
    return Object.entries(fields).map(([name, inner]) => (
      <Part key={name} path={`${path}.${name}`} field={inOf(label, inner)} />
    ));
  }
  if (kind !== 'other') return <DefinedField path={path} field={field} form={FIELDS} />;
  return (
    <ObjectRows path={path} field={field} one={oneOf(label)} empty={NEW_PAIR}>
      {(row, number) => (
        <>
          <TextField path={`${row}.name`} label={rowLabel('Name', ` ${number}`)} />
          <TextField path={`${row}.value`} label={rowLabel('Value', ` ${number}`)} />
        </>
      )}
    </ObjectRows>
  );
}

/** Says of which message a header is. */
function inOf(whole: string, field: FormField): FormField {
  const side = /^(Request|Response) headers$/.exec(whole)?.[1];
  if (side === undefined) return field;
  return { ...field, label: field.label.replace('headers', `${side.toLowerCase()} headers`) };
}

/** What a row of the list is: a header of `Set request headers`. */
function oneOf(label: string): string {
  return label.replace(/^\w+ /, '').replace(/s$/, '');
}
