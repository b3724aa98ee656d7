import { Button, Stack, Text } from '@mantine/core';
import { NumberField, TextField } from '../../ui/form/fields.tsx';
import { useField } from '../../ui/form/form-context.ts';
import { FormRow, FormRows } from '../../ui/form/form-row.tsx';
import { NEW_UPSTREAM } from './service-draft.ts';

/** The addresses of a service. */
export function UpstreamFields() {
  const { value, error, set } = useField('upstreams');
  const upstreams: readonly unknown[] = Array.isArray(value) ? value : [];
  const isOnly = upstreams.length === 1;
  return (
    <Stack gap="sm">
      <FormRows count={upstreams.length} columns="minmax(200px, 3fr) minmax(96px, 1fr) 88px">
        {upstreams.map((_upstream, index) => (
          <UpstreamRow
            key={index}
            index={index}
            onRemove={isOnly ? undefined : () => set(upstreams.filter((_one, at) => at !== index))}
          />
        ))}
      </FormRows>
      {error !== undefined && (
        <Text c="var(--mantine-color-error)" role="status">
          {error}
        </Text>
      )}
      <Button
        variant="default"
        size="xs"
        w="max-content"
        onClick={() => set([...upstreams, NEW_UPSTREAM])}
      >
        Add an upstream
      </Button>
    </Stack>
  );
}

interface UpstreamRowProps {
  readonly index: number;
  readonly onRemove: (() => void) | undefined;
}

function UpstreamRow({ index, onRemove }: UpstreamRowProps) {
  const path = `upstreams.${index}`;
  return (
    <FormRow name={`Upstream ${index + 1}`} path={path} onRemove={onRemove}>
      <TextField path={`${path}.url`} label="URL" />
      <TextField path={`${path}.region`} label="Region" emptyMeans="none" />
      <NumberField path={`${path}.weight`} label="Weight" />
    </FormRow>
  );
}
