import type { FilterChange, RequestsSearch } from './requests-search.ts';

/** What the fields of filters need. */
export interface FilterProps {
  readonly search: RequestsSearch;
  readonly onChange: (change: FilterChange) => void;
  /** What the API says about a filter, by the name of its parameter. */
  readonly errorAt: (...parameters: readonly string[]) => string | undefined;
}
