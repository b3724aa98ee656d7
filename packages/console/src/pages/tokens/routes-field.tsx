import { Input, MultiSelect, Radio, Stack } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { gateway } from '../../api/client.ts';
import { useScope } from '../../api/rights.ts';
import { ListField } from '../../ui/form/fields.tsx';
import { useField } from '../../ui/form/form-context.ts';

const SHOWN = 50;
const TYPING_MS = 200;
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** The names of the first routes whose name has the text, of all environments. */
function routeNamesQuery(search: string) {
  return queryOptions({
    queryKey: ['routes', 'names', search],
    queryFn: async ({ signal }): Promise<readonly string[]> => {
      const query = { order: 'name' as const, search, limit: SHOWN };
      const { data } = (await gateway.get('/v1/routes', { params: { query }, signal })).body;
      return [...new Set(data.map(({ name }) => name))];
    },
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
}

/** The routes that a token covers: some, chosen by their names, or all. */
export function RoutesField() {
  const { value, errorWithin, set } = useField('routes');
  const { allowed } = useScope('routes:read');
  const hasAll = Array.isArray(value) && value.includes('*');
  return (
    <Input.Wrapper data-path="routes" label="Routes" labelElement="div">
      <Stack gap="xs" mt={4}>
        <Radio.Group
          aria-label="Routes"
          value={hasAll ? 'all' : 'some'}
          onChange={(choice) => set(choice === 'all' ? ['*'] : [])}
        >
          <Stack gap={6}>
            <Radio value="some" label="Only these routes" />
            {!hasAll && allowed && <RouteNames error={errorWithin} />}
            {!hasAll && !allowed && (
              <ListField
                path="routes"
                label="Names of routes"
                description="One in each line. A route need not exist yet."
                separator="line"
              />
            )}
            <Radio value="all" label="All routes, later ones too" />
          </Stack>
        </Radio.Group>
      </Stack>
    </Input.Wrapper>
  );
}

/** Names of routes with suggestions. One that does not exist yet can be added. */
function RouteNames({ error }: { readonly error: string | undefined }) {
  const { value, set } = useField('routes');
  const chosen = Array.isArray(value) ? value.map(String) : [];
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed.trim().toLowerCase().slice(0, 63), TYPING_MS);
  const { data: found = [] } = useQuery(routeNamesQuery(search));
  const name = typed.trim().toLowerCase();
  const isNew = NAME.test(name) && !found.includes(name) && !chosen.includes(name);
  return (
    <MultiSelect
      aria-label="Names of routes"
      data-path="routes"
      placeholder={chosen.length === 0 ? 'Choose routes by name' : ''}
      data={[
        ...new Set([...found, ...chosen]),
        ...(isNew ? [{ value: name, label: `${name} (does not exist yet)` }] : []),
      ]}
      value={chosen}
      error={
        error !== undefined && chosen.length === 0 ? 'Choose at least one route, or all.' : error
      }
      onChange={set}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      hidePickedOptions
      nothingFoundMessage="No such route"
      maxDropdownHeight={220}
    />
  );
}
