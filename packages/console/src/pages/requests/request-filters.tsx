import { Button, Group, NativeSelect, SimpleGrid, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { ApiError } from '@gateway/client';
import { useId } from 'react';
import { fieldErrors } from '../../ui/form/field-errors.ts';
import type { FilterProps } from './filter-props.ts';
import { FilterText } from './filter-text.tsx';
import { MoreFilters } from './more-filters.tsx';
import { hasFilters, hasMoreFilters } from './requests-search.ts';

interface RequestFiltersProps extends Omit<FilterProps, 'errorAt'> {
  /** Why the list could not be read. */
  readonly error: unknown;
  readonly onClear: () => void;
}

const OUTCOMES = [
  { value: '', label: 'Any outcome' },
  ...[
    'success',
    'upstream_error',
    'upstream_unavailable',
    'timeout',
    'rejected',
    'client_aborted',
  ].map((value) => ({ value, label: value.replaceAll('_', ' ') })),
];

/** The filters above the list: those that are used most, and all others if they are wanted. */
export function RequestFilters({ search, error, onChange, onClear }: RequestFiltersProps) {
  const [opened, more] = useDisclosure(hasMoreFilters(search));
  const moreId = useId();
  const errors = fieldErrors(error instanceof ApiError ? error.details : []);
  const errorAt = (...parameters: readonly string[]) =>
    parameters.map((name) => errors.at(name)).find((message) => message !== undefined);
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm" verticalSpacing="xs">
        <FilterText
          label="Route"
          value={search.route ?? ''}
          onApply={(route) => onChange({ route })}
          error={errorAt('route')}
        />
        <FilterText
          label="Status"
          placeholder="502 or 5xx"
          value={search.status ?? ''}
          onApply={(status) => onChange({ status })}
          error={errorAt('status', 'status_class')}
        />
        <NativeSelect
          label="Outcome"
          data={OUTCOMES}
          value={search.outcome ?? ''}
          onChange={({ currentTarget: { value } }) => onChange({ outcome: value })}
          error={errorAt('outcome')}
        />
        <Group gap="xs" mt="auto">
          <Button
            variant="default"
            onClick={more.toggle}
            aria-expanded={opened}
            aria-controls={moreId}
          >
            {opened ? 'Fewer filters' : 'More filters'}
          </Button>
          {hasFilters(search) && (
            <Button variant="subtle" px="xs" onClick={onClear}>
              Clear
            </Button>
          )}
        </Group>
      </SimpleGrid>
      <div id={moreId} hidden={!opened}>
        <MoreFilters search={search} onChange={onChange} errorAt={errorAt} />
      </div>
    </Stack>
  );
}
