import { boundsText, plainText, type FormField } from '@gateway/client/form-fields';
import { ChoiceField, ListField, NumberField, SwitchField, TextField } from './fields.tsx';

interface DefinedFieldProps {
  /** Where the value is in the body of the API, such as `rate_limit.limit`. */
  readonly path: string;
  readonly field: FormField;
}

/** The control of a field as the API defines it: its label, help, unit, bounds, default and choices. */
export function DefinedField({ path, field }: DefinedFieldProps) {
  const { kind, label, unit, nullMeans, choices, hasNumbers, fields } = field;
  const shared = { path, label, description: helpText(field) };
  const empty = nullMeans === undefined ? {} : { emptyMeans: plainText(nullMeans) };
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
        <DefinedField key={name} path={`${path}.${name}`} field={inner} />
      ));
    case 'other':
      throw new Error(`The field ${path} needs a control of its own.`);
  }
}

function helpText(field: FormField): string {
  // The control of another kind shows its default itself.
  const bounds = field.min === undefined ? undefined : boundsText(field);
  const help = plainText(field.help);
  if (bounds === undefined) return help;
  return `${help} ${bounds.charAt(0).toUpperCase()}${bounds.slice(1)}.`;
}
