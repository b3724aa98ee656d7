import { Select } from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { gateway } from '../../../api/client.ts';
import { useScope } from '../../../api/rights.ts';
import { TextField } from '../../../ui/form/fields.tsx';
import { useField } from '../../../ui/form/form-context.ts';

const MAX_TOKENS = 1000;

const tokenNamesQuery = queryOptions({
  queryKey: ['tokens', 'names'],
  queryFn: async ({ signal }) => {
    const tokens: { readonly value: string; readonly label: string }[] = [];
    const params = { query: { limit: 200 } };
    for await (const { id, name } of gateway.list('/v1/tokens', { params, signal })) {
      tokens.push({ value: id, label: name });
      if (tokens.length >= MAX_TOKENS) break;
    }
    return tokens.toSorted((a, b) => a.label.localeCompare(b.label));
  },
  staleTime: 30_000,
});

/** The token that the caller presents, chosen by its name; typed by its id, if the reader may not list tokens. */
export function TokenField({ path }: { readonly path: string }) {
  const { allowed } = useScope('tokens:read');
  if (!allowed) return <TextField path={path} label="Token" description="The id of the token" />;
  return <TokenSelect path={path} />;
}

function TokenSelect({ path }: { readonly path: string }) {
  const { value, error, set } = useField(path);
  const { data: tokens = [] } = useQuery(tokenNamesQuery);
  return (
    <Select
      label="Token"
      placeholder="Choose a token"
      data={tokens}
      value={typeof value === 'string' && value !== '' ? value : null}
      error={error}
      onChange={set}
      searchable
      allowDeselect={false}
      limit={50}
      nothingFoundMessage="No such token"
    />
  );
}
