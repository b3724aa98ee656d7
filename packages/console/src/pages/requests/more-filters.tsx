import { NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import type { FilterProps } from './filter-props.ts';
import { localInputOf, timeOfLocalInput } from '../../ui/form/local-input.ts';
import { FilterText } from './filter-text.tsx';

const KINDS = [
  { value: '', label: 'Requests' },
  { value: 'preflight', label: 'Preflights of browsers' },
  { value: 'mirror', label: 'Mirrored copies' },
];

/** The filters that are used less. */
export function MoreFilters({ search, onChange, errorAt }: FilterProps) {
  const { grpc, kind, method, error, token, upstream, slower, since, until } = search;
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm" verticalSpacing="xs">
      <NativeSelect
        label="Kind"
        data={KINDS}
        value={kind ?? ''}
        onChange={({ currentTarget: { value } }) => onChange({ kind: value })}
        error={errorAt('kind')}
      />
      <FilterText
        label="Method"
        placeholder="POST"
        value={method ?? ''}
        onApply={(value) => onChange({ method: value })}
        error={errorAt('method')}
      />
      <FilterText
        label="gRPC status"
        placeholder="UNAVAILABLE or 14"
        value={grpc ?? ''}
        onApply={(value) => onChange({ grpc: value })}
        error={errorAt('grpc_status')}
      />
      <FilterText
        label="Error code"
        placeholder="upstream_timeout"
        value={error ?? ''}
        onApply={(value) => onChange({ error: value })}
        error={errorAt('error_code')}
      />
      <FilterText
        label="Upstream"
        placeholder="its URL or id"
        value={upstream ?? ''}
        onApply={(value) => onChange({ upstream: value })}
        error={errorAt('upstream')}
      />
      <FilterText
        label="Token"
        placeholder="its id, tok_…"
        value={token ?? ''}
        onApply={(value) => onChange({ token: value })}
        error={errorAt('token_id')}
      />
      <FilterText
        label="Took at least, ms"
        inputMode="numeric"
        value={slower === undefined ? '' : String(slower)}
        onApply={(value) =>
          onChange({ slower: /^\d{1,9}$/.test(value) ? Number(value) : undefined })
        }
        error={errorAt('min_duration_ms')}
      />
      <TextInput
        type="datetime-local"
        label="From"
        value={localInputOf(since)}
        onChange={({ currentTarget: { value } }) => onChange({ since: timeOfLocalInput(value) })}
        error={errorAt('since')}
      />
      <TextInput
        type="datetime-local"
        label="Until"
        value={localInputOf(until)}
        onChange={({ currentTarget: { value } }) => onChange({ until: timeOfLocalInput(value) })}
        error={errorAt('until')}
      />
    </SimpleGrid>
  );
}
