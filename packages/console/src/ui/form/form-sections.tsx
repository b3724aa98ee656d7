import { plainText, type FormField, type FormFields } from '@gateway/client/form-fields';
import { Button, Paper } from '@mantine/core';
import type { ReactNode } from 'react';
import { DefinedField } from './defined-field.tsx';
import { FoldedSection } from './folded-section.tsx';
import { useFolds } from './folds.ts';
import type { Draft } from './draft.ts';
import { useForm } from './form-context.ts';
import { FormSection } from './form-section.tsx';
import classes from './form-sections.module.css';
import { useOpenAtField } from './open-at-field.ts';
import { sectionState, type FoldedSection as Folded, type Section } from './section.ts';
import { readableDraft, sentenceOf } from './section-text.ts';

type Controls = Readonly<Record<string, ReactNode>>;

interface FormSectionsProps {
  readonly fields: FormFields;
  /** What has to be said of every resource. */
  readonly first: readonly Section[];
  /** The heading of the sections that are folded. */
  readonly rest: string;
  /** What they do as long as nothing is changed, in one sentence. */
  readonly about: string;
  readonly folded: readonly Folded[];
  /** Controls that are written by hand, by the name of the field; null: another control has it. */
  readonly controls: Controls;
  /** What of a draft does not have its default. */
  readonly own: (draft: Draft) => Draft;
  /** The first field has the focus, because the form is empty. */
  readonly isNew: boolean;
}

/**
 * Every field of a resource: those of `first`, and folded those of `folded`, then each other object in a section of its
 * own, then what remains. So a new field of the API is in its form without a change of the form.
 */
export function FormSections(props: FormSectionsProps) {
  const { fields, first, folded, controls, rest, about, own, isNew } = props;
  const { draft, base, errors, said } = useForm();
  const all = [...folded, ...otherSections(fields, [...first, ...folded], controls)];
  const ownFields = own(draft);
  const readable = readableDraft(fields, draft);
  const folds = useFolds(all, said);
  useOpenAtField(isNew);
  return (
    <>
      <Paper withBorder>
        {first.map(({ title, description, columns, fields: names }) => (
          <FormSection key={title} {...{ title, description, columns }} fields={names}>
            <Controlled names={names} fields={fields} controls={controls} />
          </FormSection>
        ))}
      </Paper>
      <div>
        <div className={classes.head}>
          <h2 className={classes.title}>{rest}</h2>
          <p className={classes.about}>{about}</p>
          <Button
            variant="subtle"
            size="compact-sm"
            onClick={() => folds.setAll(!folds.areAllOpen)}
          >
            {folds.areAllOpen ? 'Fold all' : 'Unfold all'}
          </Button>
        </div>
        <Paper withBorder className={classes.rows ?? ''}>
          {all.map((section) => {
            const { title, description, columns, fields: names } = section;
            return (
              <FoldedSection
                key={title}
                {...{ title, description, columns }}
                fields={names}
                sentence={sentenceOf(section, fields, draft, readable)}
                state={sectionState(names, draft, base, ownFields)}
                hasError={names.some((name) => errors.within(name) !== undefined)}
                isOpen={folds.isOpen(title)}
                onToggle={() => folds.toggle(title)}
              >
                <Controlled names={names} fields={fields} controls={controls} />
              </FoldedSection>
            );
          })}
        </Paper>
      </div>
    </>
  );
}

interface ControlledProps {
  readonly names: readonly string[];
  readonly fields: FormFields;
  readonly controls: Controls;
}

/** The controls of fields, each within an element by which it is found. */
function Controlled({ names, fields, controls }: ControlledProps) {
  return names.map((name) => (
    <div key={name} data-field={name} className={classes.field}>
      {name in controls ? controls[name] : defined(fields, name)}
    </div>
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
  controls: Controls,
): readonly Folded[] {
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
