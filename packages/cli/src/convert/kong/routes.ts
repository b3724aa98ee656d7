import type { Conversion, NameAndValue, RouteDraft, Way, WayPath } from '../draft.ts';
import { notePrefix } from '../note-prefix.ts';
import { WrongType, type SourceNode } from '../source-node.ts';
import {
  hostOf,
  isHostValue,
  isFieldName,
  isFieldValue,
  isPath,
  isRefusedField,
  MAX_MATCH_HEADERS,
  mayBeSecret,
  prefixPath,
  setMethods,
  setTimeoutMs,
  within,
} from '../values.ts';
import { readHashing } from './affinity.ts';
import type { KongPlugin } from './plugin.ts';
import { applyPlugins } from './plugins.ts';
import type { KongService } from './services.ts';

/** What the conversion of a route knows of its file. */
export interface KongFile {
  readonly conversion: Conversion;
  /** Hosts of routes that name none. */
  readonly defaultHosts: readonly string[];
  /** Before 3.0 a path is a regular expression if it has characters of one. */
  readonly hasMarkedExpressions: boolean;
}

/** Makes the routes of one of Kong: one, or one for each prefix that is removed. */
export function readRoute(
  file: KongFile,
  node: SourceNode,
  service: KongService | undefined,
  plugins: readonly KongPlugin[],
): void {
  let name = service?.draft.name;
  const before = file.conversion.routes.length;
  try {
    name = node.text('name') ?? name;
    const { ways, lost, prefixes } = readWays(file, node);
    // One route removes one prefix.
    const parts = prefixes.length > 1 ? prefixes : [undefined];
    for (const prefix of parts) {
      const route = file.conversion.addRoute(name, node.place);
      route.ways = prefix === undefined ? ways : ways.map((way) => ({ ...way, paths: [prefix] }));
      route.lost = lost.map(({ way }) => way);
      if (prefix === parts[0]) {
        for (const path of node.get('paths')?.items() ?? []) {
          const text = path.asText();
          if (isPath(text)) notePrefix(file.conversion, route, text, path.place);
        }
      }
      for (const { text, place } of prefix === parts[0] ? lost : [])
        route.missing(place, text, 'match');
      if (prefix !== undefined && prefix === parts[0]) {
        const text = `the route becomes ${parts.length}, one for each path that is removed; each has quotas of its own`;
        route.note(node.place, text, 'match');
      }
      settle(route, node, service, prefix ?? prefixes[0]);
      applyPlugins(file.conversion, route, plugins);
      const isAnswered = route.fields.has('respond') || route.fields.has('redirect');
      if (service === undefined && !isAnswered) route.leftOut ??= 'it has no service';
      reportRest(file.conversion, route, node);
    }
  } catch (error) {
    if (!(error instanceof WrongType)) throw error;
    file.conversion.leaveOut(before, name, node.place, `${error.place}: ${error.message}`);
  }
}

interface LostWay {
  readonly way: Way;
  readonly place: string;
  readonly text: string;
}

interface Ways {
  readonly ways: Way[];
  readonly lost: readonly LostWay[];
  /** The prefixes that Kong removes from the path. */
  readonly prefixes: readonly WayPath[];
}

function readWays({ defaultHosts, hasMarkedExpressions }: KongFile, node: SourceNode): Ways {
  const lost: LostWay[] = [];
  const given = node.get('hosts')?.items() ?? [];
  const hosts: string[] = [];
  for (const item of given) {
    const host = hostOf(item.asText());
    if (host === undefined) {
      const text = `the host ${item.asText()}: a host is exact or *.example.com`;
      lost.push({ way: { hosts: [], paths: [], headers: [] }, place: item.place, text });
    } else hosts.push(host);
  }
  const paths: WayPath[] = [];
  const givenPaths = node.get('paths')?.items() ?? [];
  for (const item of givenPaths) {
    const path = item.asText();
    const isExpression =
      path.startsWith('~') || (!hasMarkedExpressions && /[^A-Za-z0-9._~/%-]/.test(path));
    if (!isExpression && isPath(path)) paths.push(prefixPath(path));
    else {
      const literal = isExpression ? literalStart(path.replace(/^~/, '')) : '/';
      const text = isExpression
        ? `the path ${path}: there are no regular expressions`
        : `the path ${path}: it must be in its normal form`;
      const way = { hosts, paths: [{ kind: 'characters', path: literal } as const], headers: [] };
      lost.push({ way, place: item.place, text });
    }
  }
  const ofHost = given.length === 0 ? defaultHosts : hosts;
  const isPossible =
    (given.length === 0 || hosts.length > 0) && (givenPaths.length === 0 || paths.length > 0);
  const headers = isPossible ? readHeaders(node, lost, { hosts: ofHost, paths }) : [];
  const unique = [...new Map(paths.map((path) => [path.path, path])).values()];
  const strips = node.flag('strip_path') !== false;
  return {
    ways: headers.map((one) =>
      withPath({ hosts: [...new Set(ofHost)], paths: unique, headers: one }),
    ),
    lost,
    prefixes: strips ? unique : [],
  };
}

/** A way must have a condition. */
function withPath(way: Way): Way {
  const isEmpty = way.hosts.length + way.paths.length + way.headers.length === 0;
  return isEmpty ? { ...way, paths: [{ kind: 'prefix', path: '/' }] } : way;
}

/** More than ways of a route; two more headers with as many values each would fill the memory. */
const MAX_HEADER_COMBINATIONS = 256;

/** The combinations of headers that lead to a route; one of no headers if it asks for none. */
function readHeaders(
  node: SourceNode,
  lost: LostWay[],
  scope: { readonly hosts: readonly string[]; readonly paths: readonly WayPath[] },
): readonly (readonly NameAndValue[])[] {
  const names = new Set<string>();
  let combinations: readonly (readonly NameAndValue[])[] = [[]];
  for (const field of node.get('headers')?.fields() ?? []) {
    // Of 1 and "1" both are the text of one value.
    const values = [...new Set(field.items().map((item) => item.asText()))];
    const isUsable = values.every((value) => isFieldValue(value) && !value.startsWith('~*'));
    names.add(field.name.toLowerCase());
    const [first = []] = combinations;
    const isTooMuch =
      first.length === MAX_MATCH_HEADERS ||
      combinations.length * values.length > MAX_HEADER_COMBINATIONS;
    if (isTooMuch || names.size === first.length) {
      const text = isTooMuch
        ? `header conditions with more than ${MAX_MATCH_HEADERS} names or ${MAX_HEADER_COMBINATIONS} combinations of values`
        : `the header condition ${field.name}: its name is there already`;
      lost.push({ way: { ...scope, headers: [] }, place: field.place, text });
      return [];
    }
    if (
      !isUsable ||
      !isFieldName(field.name) ||
      isRefusedField(field.name) ||
      values.some((one) => mayBeSecret(field.name, one))
    ) {
      const text = `the header condition ${field.name}: it must be an exact value that is no secret`;
      lost.push({ way: { ...scope, headers: [] }, place: field.place, text });
      return [];
    }
    combinations = combinations.flatMap((one) =>
      values.map((value) => [...one, { name: field.name, value }]),
    );
  }
  return combinations;
}

/** The characters with which everything begins that a regular expression matches. */
export function literalStart(expression: string): string {
  const [literal = ''] = /^\^?\/[A-Za-z0-9_~/-]*/.exec(expression) ?? [''];
  const end = expression.slice(literal.length);
  // What follows may make the last character optional, and an alternative need not begin so.
  if (expression.includes('|')) return '/';
  const text = /^[?*{]/.test(end) ? literal.slice(0, -1) : literal;
  return text.replace(/^\^/, '') || '/';
}

/** Conditions of Kong that no route here can have. */
const CONDITIONS = ['snis', 'sources', 'destinations', 'expression'];
const HTTP = /^https?$/;

function settle(
  route: RouteDraft,
  node: SourceNode,
  service: KongService | undefined,
  prefix: WayPath | undefined,
): void {
  const { fields } = route;
  const protocols = node.texts('protocols') ?? ['http', 'https'];
  const condition = CONDITIONS.find((name) => node.has(name) && node.get(name) !== undefined);
  setMethods(route, node.texts('methods'), node.place);
  route.criteria = ['hosts', 'paths', 'methods', 'headers', 'snis'].filter((name) =>
    node.has(name),
  ).length;
  if (condition !== undefined) route.leftOut = `a route has no condition ${condition}`;
  else if (!protocols.some((one) => HTTP.test(one))) {
    route.leftOut = `the gateway has no routes of ${protocols.join(', ')}`;
  } else if (service?.draft.leftOut !== undefined) {
    route.leftOut = `its service ${service.draft.name} is not converted`;
  } else if (route.ways.length === 0) route.leftOut = 'nothing is left that leads to it';
  if (route.leftOut !== undefined && route.ways.length === 0) {
    route.ways = [{ hosts: [], paths: [], headers: [] }];
  }
  if (service !== undefined) {
    fields.set('service', service.draft.name);
    if (!service.isEnabled) fields.set('status', 'disabled');
    setTimeoutMs(route, service.timeoutMs, service.node.place);
    fields.set('retry_count', within(service.retries, 0, 10));
    fields.set('retry', { on_statuses: [] });
  }
  if (prefix !== undefined && prefix.path !== '/') {
    route.rewrite.set('strip_prefix', prefix.path);
  }
  if (node.flag('preserve_host') === true) route.rewrite.set('host', 'preserve');
  else if (service?.upstream?.hostHeader !== undefined) {
    const { hostHeader, node: source } = service.upstream;
    if (isHostValue(hostHeader)) route.rewrite.set('host', hostHeader);
    else route.missing(source.place, 'host_header: it is no host', 'rewrite');
  }
  if (service?.upstream !== undefined) readHashing(route, service.upstream);
  // Kong changes no address in a response.
  fields.set('locations', 'off');
  if (node.text('path_handling') === 'v1' && service?.hasPath === true) {
    route.leftOut ??=
      'path_handling v1 joins the paths of the service and the request without a slash';
  }
  const status = node.number('https_redirect_status_code') ?? 426;
  if (!protocols.includes('http') && route.leftOut === undefined) {
    const text = `protocols https: Kong answers ${status} over http, and the gateway serves this route over http too if it has such a port`;
    route.different(node.place, text);
  }
}

function reportRest(conversion: Conversion, route: RouteDraft, node: SourceNode): void {
  node.ignore('id', 'created_at', 'updated_at', 'service', 'plugins', 'name', 'regex_priority');
  node.ignore('request_buffering', 'response_buffering', ...CONDITIONS, 'priority');
  for (const { name, place } of node.unread()) {
    if (name === 'tags') conversion.repeated('missing', place, 'tags');
    else route.missing(place, name);
  }
}
