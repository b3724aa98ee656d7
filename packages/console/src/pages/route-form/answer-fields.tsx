import { ROUTE_FORM, type FormFields } from '@gateway/client/form-fields';
import { Stack } from '@mantine/core';
import { DefinedField } from '../../ui/form/defined-field.tsx';
import { LongTextField } from '../../ui/form/fields.tsx';

const FIELDS = { respond: fieldsOf('respond'), redirect: fieldsOf('redirect') } as const;

function fieldsOf(name: string): FormFields {
  return ROUTE_FORM[name]?.fields ?? {};
}

/** What the gateway answers itself. */
export function AnswerFields({ kind }: { readonly kind: keyof typeof FIELDS }) {
  return (
    <Stack gap="sm">
      {Object.entries(FIELDS[kind]).map(([name, field]) =>
        name === 'body' ? (
          <LongTextField key={name} path={`${kind}.${name}`} label={field.label} />
        ) : (
          <DefinedField key={name} path={`${kind}.${name}`} field={field} form={ROUTE_FORM} />
        ),
      )}
    </Stack>
  );
}
