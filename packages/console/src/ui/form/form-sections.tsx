import { plainText, type FormField, type FormFields } from '@gateway/client/form-fields';
import { Fragment, type ReactNode } from 'react';
import { DefinedField } from './defined-field.tsx';
import { FormSection } from './form-section.tsx';
import { useOpenAtField } from './open-at-field.ts';

/** Fields that belong together. */
export interface Section {
  readonly title: string;
  readonly description?: string;
  readonly columns?: 1;
  /** The names of the fields. */
  readonly fields: readonly string[];
}

interface FormSectionsProps {
  readonly fields: FormFields;
  readonly sections: readonly Section[];
  /** Controls that are written by hand, by the name of the field; null: another control has it. */
  readonly controls: Readonly<Record<string, ReactNode>>;
}

/**
 * Every field of a resource: those of `sections`, then each other object in a section of its own, then what remains. So a
 * new field of the API is in its form without a change of the form.
 */
export function FormSections({ fields, sections, controls }: FormSectionsProps) {
  useOpenAtField();
  const all = [...sections, ...otherSections(fields, sections, controls)];
  return all.map(({ title, description, columns, fields: names }) => (
    <FormSection
      key={title}
      title={title}
      fields={names}
      {...(description === undefined ? {} : { description })}
      {...(columns === undefined ? {} : { columns })}
    >
      {names.map((name) => (
        <Fragment key={name}>{name in controls ? controls[name] : defined(fields, name)}</Fragment>
      ))}
    </FormSection>
  ));
}

function defined(fields: FormFields, name: string): ReactNode {
  const field = fields[name];
  if (field === undefined) throw new Error(`The API has no field ${name}.`);
  return <DefinedField path={name} field={field} form={fields} />;
}

/** The sections of the fields that `sections` does not place. */
function otherSections(
  fields: FormFields,
  sections: readonly Section[],
  controls: Readonly<Record<string, ReactNode>>,
): readonly Section[] {
  const placed = new Set([
    ...sections.flatMap((section) => section.fields),
    ...Object.keys(controls),
  ]);
  const others = Object.entries(fields).filter(([name]) => !placed.has(name));
  const isObject = ([, field]: readonly [string, FormField]) => field.kind === 'object';
  const remaining = others.filter((one) => !isObject(one)).map(([name]) => name);
  return [
    ...others.filter(isObject).map(([name, { label, help }]) => {
      return { title: label, description: plainText(help), fields: [name] };
    }),
    ...(remaining.length === 0 ? [] : [{ title: 'More', fields: remaining }]),
  ];
}
