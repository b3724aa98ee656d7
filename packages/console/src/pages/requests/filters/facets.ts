import { amountText } from '@gateway/client/amounts';
import { grpcStatusText } from '@gateway/client/grpc-status';
import type { CountedBy } from '../counts-query.ts';
import type { FilterChange, RequestsSearch } from '../requests-search.ts';

/** A filter that is chosen from a list, or typed. */
export interface Facet {
  /** Its name in the URL. */
  readonly name: FacetName;
  readonly label: string;
  /** The parameters of the API that it sets. */
  readonly parameters: readonly string[];
  /** What the values are counted by; undefined: they are not counted. */
  readonly by?: CountedBy;
  /** Values that are always offered, with what they mean. */
  readonly fixed?: readonly (readonly [value: string, label: string])[];
  /** What it takes, if the API says less; a clause after its label. */
  readonly rule?: string;
  /** What can be typed. */
  readonly hint: string;
}

export type FacetName =
  | 'route'
  | 'status'
  | 'error'
  | 'token'
  | 'upstream'
  | 'method'
  | 'outcome'
  | 'grpc'
  | 'slower'
  | 'kind';

const CLASSES = [
  ['5xx', '5xx, server errors'],
  ['4xx', '4xx, client errors'],
  ['3xx', '3xx, redirects'],
  ['2xx', '2xx, success'],
  ['none', 'No status: the caller left'],
] as const;

/** The filters, in the order in which they are offered. */
export const FACETS: readonly Facet[] = [
  { name: 'route', label: 'Route', parameters: ['route'], by: 'route', hint: 'Name of a route' },
  {
    name: 'status',
    label: 'Status',
    parameters: ['status', 'status_class'],
    by: 'status',
    fixed: CLASSES,
    // The API has two parameters for it, and each knows its own values only.
    rule: 'must be a status such as 502, or a class such as 5xx or none',
    hint: '502 or 5xx',
  },
  {
    name: 'error',
    label: 'Error code',
    parameters: ['error_code'],
    by: 'error_code',
    hint: 'upstream_timeout',
  },
  { name: 'token', label: 'Token', parameters: ['token_id'], by: 'token_id', hint: 'Name or id' },
  {
    name: 'upstream',
    label: 'Upstream',
    parameters: ['upstream'],
    by: 'upstream',
    hint: 'URL or id',
  },
  { name: 'method', label: 'Method', parameters: ['method'], by: 'method', hint: 'POST' },
  {
    name: 'outcome',
    label: 'Outcome',
    parameters: ['outcome'],
    by: 'outcome',
    hint: 'How it ended',
  },
  {
    name: 'grpc',
    label: 'gRPC status',
    parameters: ['grpc_status'],
    by: 'grpc_status',
    hint: 'UNAVAILABLE or 14',
  },
  {
    name: 'slower',
    label: 'Took at least',
    parameters: ['min_duration_ms'],
    fixed: [
      ['100', '100 ms'],
      ['500', '500 ms'],
      ['1000', '1 s'],
      ['5000', '5 s'],
      ['30000', '30 s'],
    ],
    hint: 'Milliseconds',
  },
  {
    name: 'kind',
    label: 'Kind',
    parameters: ['kind'],
    fixed: [
      ['preflight', 'Preflights of browsers'],
      ['mirror', 'Mirrored copies'],
    ],
    hint: 'What the records are of',
  },
];

/** The value of a filter as the URL has it; undefined: it is not set. */
export function facetValue(search: RequestsSearch, name: FacetName): string | undefined {
  const value = search[name];
  return value === undefined ? undefined : String(value);
}

/** The change that sets the filter; undefined removes it. */
export function facetChange(name: FacetName, value: string | undefined): FilterChange {
  if (name !== 'slower') return { [name]: value };
  return { slower: value !== undefined && /^\d{1,9}$/.test(value) ? Number(value) : undefined };
}

/** A value for people. */
export function facetText(
  { name, fixed }: Facet,
  value: string,
  tokenName: (id: string) => string,
): string {
  if (name === 'token') return tokenName(value);
  if (name === 'outcome') return value === 'success' ? 'answered' : value.replaceAll('_', ' ');
  if (name === 'grpc' && /^\d+$/.test(value)) return grpcStatusText(Number(value));
  const known = fixed?.find(([one]) => one === value)?.[1];
  if (name === 'slower')
    return known ?? (/^\d{1,9}$/.test(value) ? amountText(Number(value), 'ms') : value);
  return name === 'kind' ? (known ?? value) : value;
}
