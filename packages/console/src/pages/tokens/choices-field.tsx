import { Checkbox, SimpleGrid, Stack } from '@mantine/core';
import { useField } from '../../ui/form/form-context.ts';

interface ChoicesFieldProps {
  readonly path: string;
  readonly label: string;
  /** Beside the box for `*`, such as `All environments, later ones too`. */
  readonly everything: string;
  /** Each name with its words. */
  readonly choices: readonly (readonly [name: string, description: string])[];
}

/** A list of names, of which `*` stands for all. */
export function ChoicesField({ path, label, everything, choices }: ChoicesFieldProps) {
  const { value, errorWithin, set } = useField(path);
  const chosen = Array.isArray(value) ? value.map(String) : [];
  const hasAll = chosen.includes('*');
  return (
    <Checkbox.Group
      data-path={path}
      label={label}
      value={chosen}
      error={errorWithin}
      onChange={(names) => set(names)}
    >
      <Stack gap={6} py={4}>
        <Checkbox
          label={everything}
          checked={hasAll}
          onChange={({ currentTarget: { checked } }) => set(checked ? ['*'] : [])}
          value="*"
        />
        {!hasAll && (
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md" verticalSpacing={6}>
            {choices.map(([name, description]) => (
              <Checkbox key={name} value={name} label={name} description={description} />
            ))}
          </SimpleGrid>
        )}
      </Stack>
    </Checkbox.Group>
  );
}
