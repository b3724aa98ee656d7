import { Button, Group, Stack, Text } from '@mantine/core';
import { useTokenName } from '../../../api/token-names.ts';
import { hasFilters, type FilterChange, type RequestsSearch } from '../requests-search.ts';
import { FacetField } from './facet-field.tsx';
import { facetChange, FACETS } from './facets.ts';
import { refusedFacets } from './refused-facets.ts';
import { SavedViews } from './saved-views.tsx';

interface FacetBarProps {
  readonly environment: string;
  readonly search: RequestsSearch;
  /** Why the list could not be read. */
  readonly error: unknown;
  readonly onChange: (change: FilterChange) => void;
  readonly onClear: () => void;
  readonly onView: (search: RequestsSearch) => void;
}

const SLOW_MS = 1000;

/** The filters, those that are used most as switches. What the API refuses is said once, below. */
export function FacetBar(props: FacetBarProps) {
  const { environment, search, error, onChange, onClear, onView } = props;
  const tokenName = useTokenName();
  const refused = refusedFacets(error);
  return (
    <Stack gap={6}>
      <Group gap={6}>
        <Toggle
          label="Failed"
          on={search.failed === true}
          onChange={(on) => onChange({ failed: on ? true : undefined })}
        />
        <Toggle
          label="Slow"
          title="Took at least 1 s"
          on={search.slower === SLOW_MS}
          onChange={(on) => onChange({ slower: on ? SLOW_MS : undefined })}
        />
        {FACETS.map((facet) => (
          <FacetField
            key={facet.name}
            facet={facet}
            environment={environment}
            search={search}
            invalid={refused.some(({ name }) => name === facet.name)}
            tokenName={tokenName}
            onChange={(value) => onChange(facetChange(facet.name, value))}
          />
        ))}
        {hasFilters(search) && (
          <Button variant="subtle" size="xs" px={8} onClick={onClear}>
            Clear
          </Button>
        )}
        <SavedViews search={search} onView={onView} />
      </Group>
      {refused.map(({ name, text }) => (
        <Text key={name} size="sm" c="var(--bad)" role="alert">
          {text}
        </Text>
      ))}
    </Stack>
  );
}

interface ToggleProps {
  readonly label: string;
  readonly title?: string;
  readonly on: boolean;
  readonly onChange: (on: boolean) => void;
}

function Toggle({ label, title, on, onChange }: ToggleProps) {
  return (
    <Button
      variant={on ? 'light' : 'default'}
      size="xs"
      px={10}
      title={title}
      aria-pressed={on}
      onClick={() => onChange(!on)}
    >
      {label}
    </Button>
  );
}
