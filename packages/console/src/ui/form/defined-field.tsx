import type { FormField, FormFields } from '@gateway/client/form-fields';
import { fieldWords } from './field-help.ts';
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
  const shared = { path, label, description };
  switch (kind) {
    case 'integer':
    case 'number':
      return <NumberField {...shared} {...empty} {...(unit === undefined ? {} : { unit })} />;
    case 'text':
      return <TextField {...shared} {...empty} />;
    case 'switch':
      return <SwitchField {...shared} />;
    case 'choice':
      return <ChoiceField {...shared} choices={choices} />;
    case 'list':
      return <ListField {...shared} separator="comma" numbers={hasNumbers} />;
    case 'object':
      return Object.entries(fields).map(([name, inner]) => (
        <DefinedField key={name} path={`${path}.${name}`} field={inner} form={form} />
      ));
    case 'other':
      throw new Error(`The field ${path} needs a control of its own.`);
  }
}
