import type { Route } from '../../../api/client.ts';
import type { Policy } from './policy.ts';
import { listWords } from './words.ts';

type Rewrite = NonNullable<Route['rewrite']>;

/** How the route rewrites requests and responses; undefined: not at all. */
export function explainRewriting({ rewrite }: Pick<Route, 'rewrite'>): Policy | undefined {
  if (rewrite === null) return undefined;
  const { query, request_headers: request, response_headers: response } = rewrite;
  const sentences = [
    ...ofPath(rewrite),
    ...ofHost(rewrite),
    ...ofNames('parameters of the query', { ...query, add: [] }),
    ...ofNames('headers of requests', request),
    ...ofNames('headers of responses', response),
  ];
  return sentences.length === 0 ? undefined : { title: 'Rewriting', field: 'rewrite', sentences };
}

function ofPath({ strip_prefix: stripped, add_prefix: added, path }: Rewrite): string[] {
  return [
    ...(stripped === null ? [] : [`${stripped} is stripped from paths.`]),
    ...(added === null ? [] : [`${added} comes before paths.`]),
    ...(path === null ? [] : [`The upstream gets the path ${path}.`]),
  ];
}

function ofHost({ host }: Rewrite): string[] {
  if (host === 'upstream') return [];
  return [
    `The upstream gets ${host === 'preserve' ? 'the host of the caller' : `the host ${host}`}.`,
  ];
}

interface Changes {
  readonly set: readonly { readonly name: string }[];
  readonly add: readonly { readonly name: string }[];
  readonly remove: readonly string[];
}

function ofNames(what: string, { set, add, remove }: Changes): string[] {
  const namesOf = (pairs: Changes['set']) => pairs.map(({ name }) => name);
  const changes = [
    ['Sets', namesOf(set)],
    ['Adds', namesOf(add)],
    ['Removes', remove],
  ] as const;
  return changes.flatMap(([verb, names]) =>
    names.length === 0 ? [] : [`${verb} these ${what}: ${listWords(names)}.`],
  );
}
