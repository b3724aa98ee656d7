import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { foundTokensQuery, MAX_TOKEN_SEARCH } from '../../../api/found-tokens.ts';
import { useScope } from '../../../api/rights.ts';
import { useNamesOfTokens } from '../../../api/token-names.ts';
import { TextField } from '../../../ui/form/fields.tsx';
import { useField } from '../../../ui/form/form-context.ts';

const TYPING_MS = 200;

/** The token that the caller presents, chosen by its name; typed by its id, if the reader may not list tokens. */
export function TokenField({ path }: { readonly path: string }) {
  const { allowed } = useScope('tokens:read');
  if (!allowed) return <TextField path={path} label="Token" description="The id of the token" />;
  return <TokenSelect path={path} />;
}

function TokenSelect({ path }: { readonly path: string }) {
  const { value, error, set } = useField(path);
  const [chosen, setChosen] = useState<{ readonly value: string; readonly label: string }>();
  const [typed, setTyped] = useState('');
  // After a choice the field holds its name, which is not what is searched for.
  const [search] = useDebouncedValue(
    typed === chosen?.label ? '' : typed.slice(0, MAX_TOKEN_SEARCH),
    TYPING_MS,
  );
  const { data: tokens = [] } = useQuery(foundTokensQuery('name', search));
  const id = typeof value === 'string' && value !== '' ? value : undefined;
  const nameOf = useNamesOfTokens([id ?? null]);
  // One from the URL, or one that was found by another text.
  const missing =
    id === undefined || tokens.some((one) => one.value === id)
      ? []
      : [{ value: id, label: chosen?.value === id ? chosen.label : nameOf(id) }];
  return (
    <Select
      label="Token"
      data-path={path}
      placeholder="Choose a token"
      data={[...missing, ...tokens]}
      value={id ?? null}
      error={error}
      onChange={(taken, option) => {
        if (option !== null) setChosen({ value: option.value, label: option.label });
        set(taken);
      }}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      allowDeselect={false}
      nothingFoundMessage="No such token"
    />
  );
}
