import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useScope } from '../../../api/rights.ts';
import { tokenNamesQuery } from '../../../api/token-names.ts';
import { TextField } from '../../../ui/form/fields.tsx';
import { useField } from '../../../ui/form/form-context.ts';

/** The token that the caller presents, chosen by its name; typed by its id, if the reader may not list tokens. */
export function TokenField({ path }: { readonly path: string }) {
  const { allowed } = useScope('tokens:read');
  if (!allowed) return <TextField path={path} label="Token" description="The id of the token" />;
  return <TokenSelect path={path} />;
}

function TokenSelect({ path }: { readonly path: string }) {
  const { value, error, set } = useField(path);
  const { data: names } = useQuery(tokenNamesQuery);
  const tokens = [...(names ?? [])]
    .map(([id, label]) => ({ value: id, label }))
    .toSorted((a, b) => a.label.localeCompare(b.label));
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
