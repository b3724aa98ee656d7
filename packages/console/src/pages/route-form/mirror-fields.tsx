import { ROUTE_FORM, usualValues, type FormFields } from '@gateway/client/form-fields';
import { Checkbox, Stack } from '@mantine/core';
import { useState } from 'react';
import { DefinedField } from '../../ui/form/defined-field.tsx';
import { useField } from '../../ui/form/form-context.ts';
import { ServiceField } from '../../ui/form/service-field.tsx';

const FIELDS: FormFields = ROUTE_FORM['mirror']?.fields ?? {};
const NEW_MIRROR = usualValues(FIELDS);

/** Where copies of the requests go. */
export function MirrorFields({ environment }: { readonly environment: string }) {
  const { value, set } = useField('mirror');
  const hasMirror = typeof value === 'object' && value !== null;
  // Another choice and back again loses nothing that was chosen.
  const [last, setLast] = useState<unknown>(NEW_MIRROR);

  function choose(isOn: boolean): void {
    if (!isOn) setLast(value);
    set(isOn ? last : null);
  }

  return (
    <Stack gap="sm">
      <Checkbox
        data-path="mirror"
        label="Copy requests to another service"
        description="Callers notice nothing of it; the responses are dropped"
        checked={hasMirror}
        onChange={({ currentTarget }) => choose(currentTarget.checked)}
      />
      {hasMirror && (
        <>
          <ServiceField path="mirror.service_id" label="Mirror service" environment={environment} />
          {Object.entries(FIELDS)
            .filter(([name]) => name !== 'service_id')
            .map(([name, field]) => (
              <DefinedField key={name} path={`mirror.${name}`} field={field} form={ROUTE_FORM} />
            ))}
        </>
      )}
    </Stack>
  );
}
