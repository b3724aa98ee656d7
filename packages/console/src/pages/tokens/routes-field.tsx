import { Radio, Stack } from '@mantine/core';
import { ListField } from '../../ui/form/fields.tsx';
import { useField } from '../../ui/form/form-context.ts';

/** The routes that a token covers: all, or those of a list. */
export function RoutesField() {
  const { value, set } = useField('routes');
  const hasAll = Array.isArray(value) && value.includes('*');
  return (
    <Stack gap="xs">
      <Radio.Group
        label="Routes"
        value={hasAll ? 'all' : 'some'}
        onChange={(choice) => set(choice === 'all' ? ['*'] : [])}
      >
        <Stack gap={6} py={4}>
          <Radio value="all" label="All routes, later ones too" />
          <Radio value="some" label="Only some routes" />
        </Stack>
      </Radio.Group>
      {!hasAll && (
        <ListField
          path="routes"
          label="Names of routes"
          description="One in each line. A route need not exist yet."
          separator="line"
        />
      )}
    </Stack>
  );
}
