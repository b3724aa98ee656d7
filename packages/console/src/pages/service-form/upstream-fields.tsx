import { Button, Group, Stack, Text } from '@mantine/core';
import { NumberField, TextField } from '../../ui/form/fields.tsx';
import { useField } from '../../ui/form/form-context.ts';
import { NEW_UPSTREAM } from './service-draft.ts';
import classes from './upstream-fields.module.css';

/** The addresses of a service. */
export function UpstreamFields() {
  const { value, error, set } = useField('upstreams');
  const upstreams: readonly unknown[] = Array.isArray(value) ? value : [];
  return (
    <Stack gap="sm">
      {upstreams.map((_upstream, index) => (
        <UpstreamRow
          key={index}
          index={index}
          isOnly={upstreams.length === 1}
          onRemove={() => set(upstreams.filter((_one, at) => at !== index))}
        />
      ))}
      {error !== undefined && <FieldError text={error} />}
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
  readonly isOnly: boolean;
  readonly onRemove: () => void;
}

function UpstreamRow({ index, isOnly, onRemove }: UpstreamRowProps) {
  const path = `upstreams.${index}`;
  const { error } = useField(path);
  const number = index + 1;
  return (
    <Group role="group" aria-label={`Upstream ${number}`} align="flex-start" gap="sm" wrap="nowrap">
      <Stack gap={4} flex={1}>
        <div className={classes.upstream}>
          <TextField path={`${path}.url`} label="URL" />
          <TextField path={`${path}.region`} label="Region" emptyMeans="none" />
          <NumberField path={`${path}.weight`} label="Weight" />
        </div>
        {error !== undefined && <FieldError text={error} />}
      </Stack>
      <Button
        variant="default"
        mt={25}
        disabled={isOnly}
        onClick={onRemove}
        aria-label={`Remove upstream ${number}`}
      >
        ×
      </Button>
    </Group>
  );
}

function FieldError({ text }: { readonly text: string }) {
  return (
    <Text size="sm" c="var(--mantine-color-error)" role="status">
      {text}
    </Text>
  );
}
