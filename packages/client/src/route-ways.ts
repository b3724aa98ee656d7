import type { components } from './client.ts';

type Match = components['schemas']['Route']['match'];

/** A host, a path and header fields by which requests reach a route. */
export interface RouteWay {
  /** Exact, or with a leading `*.`; empty: every host. */
  readonly host: string;
  readonly isExact: boolean;
  /** `/` as a prefix: every path. */
  readonly path: string;
  readonly headers: Match[number]['headers'];
}

/** Every host with every path of `match`. */
export function waysOf(match: Match): readonly RouteWay[] {
  return match.flatMap(({ hosts, paths, headers }) =>
    orAny(hosts, '').flatMap((host) =>
      orAny(paths, { prefix: '/' }).map(({ exact, prefix = '/' }) => {
        return { host, isExact: exact !== undefined, path: exact ?? prefix, headers };
      }),
    ),
  );
}

function orAny<Item>(items: readonly Item[], any: Item): readonly Item[] {
  return items.length === 0 ? [any] : items;
}

/** Such as `api.example.com/v2/…`, `/status` on every host, or `*.example.com/… with X-Beta: yes`. */
export function wayText({ host, isExact, path, headers }: RouteWay): string {
  const fields = headers.map(({ name, value }) => `${name}: ${value}`).join(', ');
  const paths = isExact ? path : `${path === '/' ? '' : path}/…`;
  return `${host}${paths}${fields === '' ? '' : ` with ${fields}`}`;
}

/** The ways that are not left, and whose requests no way that is left takes as a whole. */
export function lostWays(before: Match, after: Match): readonly RouteWay[] {
  const left = waysOf(after);
  return waysOf(before).filter((way) => !left.some((wider) => includes(wider, way)));
}

/** Whether each request of one way could take the wider one. */
function includes(wider: RouteWay, way: RouteWay): boolean {
  const isOnHost =
    wider.host === way.host ||
    (wider.host.startsWith('*.') && way.host.endsWith(wider.host.slice(1)));
  const isAtPath = wider.isExact
    ? way.isExact && wider.path === way.path
    : wider.path === '/' || way.path === wider.path || way.path.startsWith(`${wider.path}/`);
  const hasFields = wider.headers.every(({ name, value }) =>
    way.headers.some((one) => sameName(one.name, name) && one.value === value),
  );
  return isOnHost && isAtPath && hasFields;
}

function sameName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** In an explanation: what of the request and of the response is changed, by names. */
export function rewriteText(
  rewrite: NonNullable<components['schemas']['Explanation']['rewrite']>,
): string {
  const { path, host, query, request_headers: request, response_headers: response } = rewrite;
  return [
    `path ${path}, Host ${host === null ? 'of the upstream' : host}`,
    ...changesText('query', { add: [], ...query }),
    ...changesText('request', request),
    ...changesText('response', response),
  ].join('; ');
}

interface Changes {
  readonly set: readonly { readonly name: string }[];
  readonly add: readonly { readonly name: string }[];
  readonly remove: readonly string[];
}

/** Such as `query: sets src, removes debug`; nothing if nothing is changed. */
function changesText(what: string, { set, add, remove }: Changes): readonly string[] {
  const parts = [
    ...set.map(({ name }) => `sets ${name}`),
    ...add.map(({ name }) => `adds ${name}`),
    ...remove.map((name) => `removes ${name}`),
  ];
  return parts.length === 0 ? [] : [`${what}: ${parts.join(', ')}`];
}

/** In an explanation: which path of the caller takes the place of that of the service in addresses of the upstream. */
export function locationsText({
  caller_prefix,
  service_paths,
  only_cookies,
}: NonNullable<components['schemas']['Explanation']['locations']>): string {
  const paths = service_paths.map((path) => `${path}/`).join(' or ');
  const where = only_cookies ? ' in cookies, and other addresses stay' : '';
  return `${paths} of the upstream becomes ${caller_prefix}/${where}`;
}
