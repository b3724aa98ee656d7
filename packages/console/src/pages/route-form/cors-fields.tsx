import { ROUTE_FORM, usualValues } from '@gateway/client/form-fields';
import { Stack, Switch } from '@mantine/core';
import { useState } from 'react';
import { DefinedField } from '../../ui/form/defined-field.tsx';
import { useField } from '../../ui/form/form-context.ts';
import { FieldError } from './field-error.tsx';

const CORS = ROUTE_FORM['cors'] ?? failed();

function failed(): never {
  throw new Error('The API has no field cors.');
}

/** Which pages of other origins may call the route; without any, the upstream decides. */
export function CorsFields() {
  const { value, error, set } = useField('cors');
  const isOn = typeof value === 'object' && value !== null;
  // Turned off and on again it loses nothing that was typed.
  const [kept, setKept] = useState<unknown>(() => ({ ...usualValues(CORS.fields), origins: [] }));
  return (
    <Stack gap="sm">
      <Switch
        label="The gateway answers pages of other origins"
        checked={isOn}
        onChange={({ currentTarget: { checked } }) => {
          if (isOn) setKept(value);
          set(checked ? kept : null);
        }}
      />
      <FieldError text={error} />
      {isOn && <DefinedField path="cors" field={CORS} form={ROUTE_FORM} />}
    </Stack>
  );
}
