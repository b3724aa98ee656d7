import type { Conversion } from '../draft.ts';
import type { SourceNode } from '../source-node.ts';
import type { KongPlugin } from './plugin.ts';
import { readRoute, type KongFile } from './routes.ts';
import { readService, reportService, type KongService } from './services.ts';
import { readUpstream, reportUpstream, type KongUpstream } from './upstreams.ts';

const MAX_NAMES = 20;

/** Makes services and routes of a file of decK, or of a declarative configuration of Kong. */
export function readKong(
  conversion: Conversion,
  root: SourceNode,
  defaultHosts: readonly string[],
): void {
  root.ignore('_format_version', '_transform', '_info', '_comment', '_workspace', '_konnect');
  const version = Number.parseFloat(root.text('_format_version') ?? '3.0');
  const file: KongFile = { conversion, defaultHosts, hasMarkedExpressions: !(version < 3) };
  const upstreams = readUpstreams(root);
  const plugins = listOf(root, 'plugins');
  const services = listOf(root, 'services').map((node) => ({
    service: readService(conversion, node, upstreams),
    routes: listOf(node, 'routes'),
  }));
  const byName = new Map<string, KongService>();
  for (const { service } of services) {
    for (const key of [service.node.text('name'), service.node.text('id')]) {
      if (key !== undefined) byName.set(key, service);
    }
  }
  const global = plugins.filter((one) => !isScoped(one));
  const used = new Set<SourceNode>(global);
  const routes = [
    ...services.flatMap(({ service, routes }) => routes.map((node) => ({ node, service }))),
    ...listOf(root, 'routes').map((node) => ({
      node,
      service: byName.get(nameOf(node, 'service') ?? ''),
    })),
  ];
  for (const { node, service } of routes) {
    const ofService = [
      ...(service ? ownPlugins(service.node) : []),
      ...named(plugins, 'service', service?.node),
    ];
    const ofRoute = [...ownPlugins(node), ...named(plugins, 'route', node)];
    const all = [...global, ...ofService, ...ofRoute];
    for (const plugin of all) used.add(plugin);
    readRoute(file, node, service, inForce(all));
  }
  for (const { service } of services) reportService(conversion, service);
  for (const upstream of upstreams.values()) reportUpstream(conversion, upstream);
  reportRest(
    conversion,
    root,
    plugins.filter((plugin) => !used.has(plugin)),
  );
}

function ownPlugins(node: SourceNode): readonly SourceNode[] {
  return listOf(node, 'plugins').filter(
    (one) => !CALLERS.some((name) => one.get(name) !== undefined),
  );
}

function listOf(node: SourceNode, name: string): readonly SourceNode[] {
  return node.get(name)?.items() ?? [];
}

/** The name in a reference such as `service: orders` or `service: {name: orders}`. */
function nameOf(node: SourceNode, name: string): string | undefined {
  const reference = node.get(name);
  if (reference === undefined) return undefined;
  if (typeof reference.value === 'string') return reference.value;
  return reference.text('name') ?? reference.text('id');
}

const CALLERS = ['consumer', 'consumer_group'];
const SCOPES = [...CALLERS, 'service', 'route'];

function isScoped(plugin: SourceNode): boolean {
  return SCOPES.some((name) => plugin.get(name) !== undefined);
}

/** The plugins of the file that name a service or a route. */
function named(
  plugins: readonly SourceNode[],
  kind: 'service' | 'route',
  node: SourceNode | undefined,
): readonly SourceNode[] {
  const keys = [node?.text('name'), node?.text('id')].filter((key) => key !== undefined);
  return plugins.filter(
    (plugin) =>
      keys.includes(nameOf(plugin, kind) ?? '') &&
      !CALLERS.some((name) => plugin.get(name) !== undefined) &&
      (kind === 'route' || plugin.get('route') === undefined),
  );
}

/** Of plugins with one name the last one is in force: that of the route, else of the service, else of all. */
function inForce(nodes: readonly SourceNode[]): readonly KongPlugin[] {
  const plugins = new Map<string, KongPlugin>();
  for (const node of nodes) {
    if (node.flag('enabled') === false) continue;
    const name = node.text('name') ?? '';
    plugins.set(name, { name, node, config: node.get('config') });
  }
  return [...plugins.values()];
}

function readUpstreams(root: SourceNode): ReadonlyMap<string, KongUpstream> {
  const others = listOf(root, 'targets');
  const entries = listOf(root, 'upstreams').map((node) => {
    const name = node.text('name') ?? '';
    const targets = [
      ...listOf(node, 'targets'),
      ...others.filter((one) => nameOf(one, 'upstream') === name),
    ];
    return [name, readUpstream(node, targets)] as const;
  });
  return new Map(entries);
}

function reportRest(conversion: Conversion, root: SourceNode, unused: readonly SourceNode[]): void {
  for (const plugin of unused) {
    const scope = SCOPES.find((name) => plugin.get(name) !== undefined) ?? '';
    const text = `plugin ${plugin.text('name') ?? ''} of the ${scope} ${nameOf(plugin, scope) ?? ''}`;
    conversion.missing(plugin.place, text);
  }
  for (const { place, name, value } of root.unread()) {
    const count = Array.isArray(value) ? value.length : 1;
    if (count === 0) continue;
    const what = EXPLANATIONS[name] ?? '';
    const names =
      name === 'consumers'
        ? root
            .get(name)
            ?.items()
            .slice(0, MAX_NAMES)
            .map((one) => one.text('username') ?? '')
        : undefined;
    conversion.missing(place, `${count} ${name}${names ? ` (${names.join(', ')})` : ''}${what}`);
  }
}

const TOKENS =
  ': secrets are not taken over. Create a token for each caller with gwctl tokens create';
const EXPLANATIONS: Readonly<Record<string, string>> = {
  consumers: TOKENS,
  keyauth_credentials: TOKENS,
  basicauth_credentials: TOKENS,
  jwt_secrets: TOKENS,
  certificates: ': put them into the folder TLS_CERT_DIR of the data planes',
  ca_certificates: ': set tls.ca_pem of the services',
};
