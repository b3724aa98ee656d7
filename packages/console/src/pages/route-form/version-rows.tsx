import { Button } from '@mantine/core';
import { NumberField, TextField } from '../../ui/form/fields.tsx';
import { useField } from '../../ui/form/form-context.ts';
import { FormRow, FormRows, RowNote, WideField } from '../../ui/form/form-row.tsx';
import { ServiceField } from '../../ui/form/service-field.tsx';
import { shareText } from '../../ui/share-text.ts';
import { FieldError } from './field-error.tsx';
import { shareOfWeight } from './share-of-weight.ts';

interface VersionRowsProps {
  readonly versions: readonly unknown[];
  readonly environment: string;
}

/** The versions of a route: which service has each, and which part of the requests its weight is. */
export function VersionRows({ versions, environment }: VersionRowsProps) {
  const { error, set } = useField('versions');

  function add(): void {
    // Without a service the API says that one is required.
    set([...versions, { name: `v${versions.length + 1}`, weight: 0 }]);
  }

  return (
    <>
      <FormRows count={versions.length} columns="minmax(96px, 1fr) minmax(200px, 2fr) 88px 56px">
        {versions.map((_version, index) => (
          <VersionRow
            key={index}
            index={index}
            share={shareText(shareOfWeight(versions, index))}
            environment={environment}
            onRemove={() => set(versions.filter((_one, at) => at !== index))}
          />
        ))}
      </FormRows>
      <FieldError text={error} />
      <Button variant="default" size="xs" w="max-content" onClick={add}>
        Add a version
      </Button>
    </>
  );
}

interface VersionRowProps extends Pick<VersionRowsProps, 'environment'> {
  readonly index: number;
  readonly share: string;
  readonly onRemove: () => void;
}

function VersionRow({ index, share, environment, onRemove }: VersionRowProps) {
  const path = `versions.${index}`;
  return (
    <FormRow name={`Version ${index + 1}`} path={path} onRemove={onRemove}>
      <TextField path={`${path}.name`} label="Version name" />
      <WideField>
        <ServiceField path={`${path}.service_id`} label="Service" environment={environment} />
      </WideField>
      <NumberField path={`${path}.weight`} label="Weight" />
      <RowNote label="Share">{share}</RowNote>
    </FormRow>
  );
}
