import { facetText, type Facet } from './facets.ts';

/** A value that can be chosen. */
export interface FacetOption {
  readonly value: string;
  readonly label: string;
  /** How many requests have it; undefined: that is not counted. */
  readonly count?: number;
}

interface Counted {
  readonly value: string;
  readonly requests: number;
}

/** More would not be read. */
const SHOWN = 50;

/** What is offered: the values that there are, the fixed ones, and what was typed if it is none of them. */
export function facetOptions(
  facet: Facet,
  counted: readonly Counted[],
  typed: string,
  tokenName: (id: string) => string,
): readonly FacetOption[] {
  const known = counted.map(({ value, requests }): FacetOption => ({
    value,
    label: facetText(facet, value, tokenName),
    count: requests,
  }));
  const fixed = (facet.fixed ?? []).map(([value, label]): FacetOption => {
    const count = facet.name === 'status' ? classCount(value, counted) : undefined;
    return { value, label, ...(count === undefined ? {} : { count }) };
  });
  const part = typed.toLowerCase();
  const fitting = [...fixed, ...known].filter(
    ({ value, label }) => value.toLowerCase().includes(part) || label.toLowerCase().includes(part),
  );
  const isNew = typed !== '' && !fitting.some(({ value, label }) => [value, label].includes(typed));
  return [
    ...fitting.slice(0, SHOWN),
    ...(isNew ? [{ value: typed, label: `Filter by “${typed}”` }] : []),
  ];
}

/** The requests with a status of a class; undefined for one whose requests are not among the statuses. */
function classCount(name: string, counted: readonly Counted[]): number | undefined {
  if (name === 'none') return undefined;
  return counted
    .filter(({ value }) => value.startsWith(name.charAt(0)))
    .reduce((sum, { requests }) => sum + requests, 0);
}
