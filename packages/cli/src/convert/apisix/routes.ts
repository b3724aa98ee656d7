import type { NameAndValue, RouteDraft, Way, WayPath } from '../draft.ts';
import type { SourceNode } from '../source-node.ts';
import {
  hostOf,
  isFieldName,
  isFieldValue,
  isHostValue,
  isPath,
  isRefusedField,
  MAX_MATCH_HEADERS,
  mayBeSecret,
  prefixPath,
  setMethods,
  setTimeoutMs,
  within,
} from '../values.ts';
import type { ApisixPlugin } from './plugin.ts';
import { applyPlugins } from './plugins.ts';
import type { ApisixFile } from './apisix-file.ts';
import type { ApisixUpstream } from './upstreams.ts';

const DEFAULT_TIMEOUT_S = 60;

/** Makes a route of one of APISIX. */
export function readRoute(file: ApisixFile, node: SourceNode): void {
  const { conversion } = file;
  const name = node.text('name') ?? node.text('id') ?? firstSegment(node);
  const route = conversion.addRoute(name, node.place);
  const serviceId = node.text('service_id');
  const service = serviceId === undefined ? undefined : file.services.get(serviceId);
  const upstream = upstreamOf(file, route.name, node, service);
  readWays(file, route, node, service);
  setMethods(route, node.texts('methods'), node.place);
  route.priority = node.number('priority') ?? 0;
  if (route.priority !== 0) {
    const text = `priority ${route.priority}: the most specific host and path gets a request`;
    route.different(node.place, text, 'match');
  }
  const condition = CONDITIONS.find((one) => node.get(one) !== undefined);
  if (condition !== undefined) route.leftOut ??= `a route has no condition ${condition}`;
  if (node.has('script')) {
    route.leftOut ??= 'it runs a script';
    route.access = 'guarded';
  }
  if (node.number('status') === 0) route.fields.set('status', 'disabled');
  settle(route, node, upstream);
  applyPlugins(conversion, route, pluginsOf(file, node, service));
  const isAnswered = route.fields.has('redirect');
  if (upstream === undefined && !isAnswered) route.leftOut ??= 'it has no upstream';
  else if (upstream?.draft.leftOut !== undefined) {
    route.leftOut ??= `its upstream ${upstream.draft.name} is not converted`;
  }
  reportRest(file, route, node, service);
}

const CONDITIONS = ['filter_func', 'remote_addr', 'remote_addrs'];

/** A name for a route that has none: what its path begins with. */
function firstSegment(node: SourceNode): string {
  const uri = node.text('uri') ?? node.texts('uris')?.[0] ?? '';
  return uri.split('/').find((part) => /^\w/.test(part)) ?? 'route';
}

function upstreamOf(
  { upstreams }: ApisixFile,
  name: string,
  node: SourceNode,
  service: SourceNode | undefined,
): ApisixUpstream | undefined {
  for (const [owner, own] of [
    [node, name],
    [service, service?.text('name') ?? name],
  ] as const) {
    const inline = owner?.get('upstream');
    if (inline !== undefined) return upstreams.inline(inline, own);
    const id = owner?.text('upstream_id');
    if (id !== undefined) return upstreams.named(id);
  }
  return undefined;
}

function readWays(
  { defaultHosts }: ApisixFile,
  route: RouteDraft,
  node: SourceNode,
  service: SourceNode | undefined,
): void {
  const given = hostsOf(node) ?? (service === undefined ? undefined : hostsOf(service));
  const hosts: string[] = [];
  for (const { text, place } of given ?? []) {
    const host = hostOf(text);
    if (host !== undefined) hosts.push(host);
    else route.missing(place, `the host ${text}: a host is exact or *.example.com`, 'match');
  }
  const isLost = given !== undefined && hosts.length < given.length;
  if (isLost) route.lost.push({ hosts: [], paths: [], headers: [] });
  const uris = [node.get('uri') ?? [], node.get('uris')?.items() ?? []].flat();
  const paths: WayPath[] = [];
  for (const item of uris) {
    const uri = item.asText();
    const path = pathOf(uri);
    if (path === undefined) {
      route.missing(
        item.place,
        `the path ${uri}: a path is exact or a prefix in its normal form`,
        'match',
      );
      const start = uri.split(/[*:]/, 1)[0] || '/';
      route.lost.push({ hosts: [], paths: [{ kind: 'characters', path: start }], headers: [] });
      continue;
    }
    paths.push(path);
    if (path.kind === 'prefix' && /[^/]\*$/.test(uri)) {
      const text = `the path ${uri}: ${path.path} and all paths below it, but no other that begins so`;
      route.different(item.place, text, 'match');
    }
  }
  const scope = { hosts: given === undefined ? [...defaultHosts] : hosts, paths };
  const headers = headersOf(node, route, scope);
  const isPossible =
    paths.length > 0 && (given === undefined || hosts.length > 0) && headers !== undefined;
  if (isPossible) route.ways = [uniqueWay({ ...scope, headers })];
  else {
    route.lost.push({ ...scope, headers: [] });
    route.leftOut ??= 'nothing is left that leads to it';
  }
}

function uniqueWay({ hosts, paths, headers }: Way): Way {
  const unique = new Map(paths.map((path) => [JSON.stringify(path), path]));
  return { hosts: [...new Set(hosts)], paths: [...unique.values()], headers };
}

interface Text {
  readonly text: string;
  readonly place: string;
}

function hostsOf(node: SourceNode): readonly Text[] | undefined {
  const nodes = [node.get('host') ?? [], node.get('hosts')?.items() ?? []].flat();
  if (nodes.length === 0) return undefined;
  return nodes.map((one) => ({ text: one.asText(), place: one.place }));
}

/** `/a/*` is everything below `/a/`, also the empty rest; anything else with a star or a parameter is no path here. */
function pathOf(uri: string): WayPath | undefined {
  const isPrefix = uri.endsWith('*');
  const path = isPrefix ? uri.slice(0, -1) : uri;
  if (path.includes('*') || /\/:/.test(path) || !isPath(path)) return undefined;
  return isPrefix ? prefixPath(path) : { kind: 'exact', path };
}

/** Conditions such as `[http_x_version, ==, "2"]`. Undefined: one of the conditions has no equivalent. */
function headersOf(
  node: SourceNode,
  route: RouteDraft,
  scope: { readonly hosts: readonly string[]; readonly paths: readonly WayPath[] },
): readonly NameAndValue[] | undefined {
  const headers: NameAndValue[] = [];
  for (const item of node.get('vars')?.items() ?? []) {
    const [name, operator, value] = Array.isArray(item.value) ? (item.value as unknown[]) : [];
    const field =
      typeof name === 'string' && name.startsWith('http_')
        ? name.slice(5).replaceAll('_', '-')
        : '';
    const isUsable =
      operator === '==' &&
      typeof value === 'string' &&
      isFieldName(field) &&
      !isRefusedField(field) &&
      isFieldValue(value) &&
      !mayBeSecret(field, value) &&
      headers.length < MAX_MATCH_HEADERS &&
      headers.every(({ name: other }) => other.toLowerCase() !== field.toLowerCase());
    if (!isUsable) {
      route.missing(
        item.place,
        `a condition in vars: only a header with one exact value that is no secret, and at most ${MAX_MATCH_HEADERS} of them`,
        'match',
      );
      route.lost.push({ ...scope, headers: [] });
      return undefined;
    }
    headers.push({ name: field, value });
  }
  return headers;
}

function settle(route: RouteDraft, node: SourceNode, upstream: ApisixUpstream | undefined): void {
  if (upstream === undefined) return;
  const { draft, node: source, nodeCount } = upstream;
  route.fields.set('service', draft.name);
  const timeout = node.get('timeout') ?? source.get('timeout');
  const seconds = timeout?.number('read') ?? DEFAULT_TIMEOUT_S;
  setTimeoutMs(route, seconds * 1000, timeout?.place ?? route.place);
  for (const name of ['connect', 'send'] as const) {
    const value = timeout?.number(name);
    if (timeout === undefined || value === undefined || value === seconds) continue;
    route.missing(
      timeout.place,
      `timeout.${name}: there is one deadline, timeout_ms`,
      'timeout_ms',
    );
  }
  route.fields.set('retry_count', within(source.number('retries') ?? nodeCount - 1, 0, 10));
  route.fields.set('retry', { on_statuses: [] });
  const passed = source.text('pass_host') ?? 'pass';
  const host = source.text('upstream_host') ?? '';
  if (passed === 'pass') route.rewrite.set('host', 'preserve');
  else if (passed === 'rewrite' && isHostValue(host)) route.rewrite.set('host', host);
  else if (passed !== 'node') route.missing(source.place, `pass_host ${passed}`, 'rewrite');
  // APISIX changes no address in a response.
  route.fields.set('locations', 'off');
  if (source.text('type') === 'chash') readHashing(route, source);
}

/** chash of an upstream: by the address, a header or the consumer. */
function readHashing(route: RouteDraft, source: SourceNode): void {
  const on = source.text('hash_on') ?? 'vars';
  const key = source.text('key') ?? 'remote_addr';
  const header = key.replace(/^http_/, '').replaceAll('_', '-');
  if (on === 'consumer') route.fields.set('affinity', { by: 'token', retry_elsewhere: true });
  else if (on === 'vars' && key === 'remote_addr') {
    route.fields.set('affinity', { by: 'ip', retry_elsewhere: true });
  } else if (on === 'header' && isFieldName(header) && !isRefusedField(header)) {
    route.fields.set('affinity', { by: 'header', header, retry_elsewhere: true });
  } else route.missing(source.place, `type chash with hash_on ${on}`, 'affinity');
}

/** Of plugins with one name the first of these is in force: route, plugin_config, service; global rules run as well. */
function pluginsOf(
  file: ApisixFile,
  node: SourceNode,
  service: SourceNode | undefined,
): readonly ApisixPlugin[] {
  const config = node.text('plugin_config_id');
  const owners = [service, config === undefined ? undefined : file.pluginConfigs.get(config), node];
  const plugins = new Map<string, ApisixPlugin>();
  for (const owner of owners) {
    for (const plugin of listPlugins(owner)) plugins.set(plugin.name, plugin);
  }
  const unknown = config !== undefined && !file.pluginConfigs.has(config);
  const missing = unknown ? [{ name: `plugin_config_id ${config}`, node }] : [];
  return [...file.globalRules.flatMap(listPlugins), ...missing, ...plugins.values()];
}

function listPlugins(owner: SourceNode | undefined): readonly ApisixPlugin[] {
  const node = owner?.get('plugins');
  return node === undefined ? [] : node.fields().map((one) => ({ name: one.name, node: one }));
}

function reportRest(
  { conversion }: ApisixFile,
  route: RouteDraft,
  node: SourceNode,
  service: SourceNode | undefined,
): void {
  node.ignore(
    'id',
    'name',
    'status',
    'enable_websocket',
    'create_time',
    'update_time',
    'script_id',
  );
  service?.ignore('id', 'name', 'enable_websocket', 'create_time', 'update_time');
  for (const { name, place } of [...node.unread(), ...(service?.unread() ?? [])]) {
    if (name === 'desc' || name === 'labels')
      conversion.repeated('missing', place, 'desc and labels');
    else route.missing(place, name);
  }
}
