import type { RouteDraft, WayPath } from '../draft.ts';
import {
  isFieldName,
  isFieldValue,
  isHostValue,
  isRefusedField,
  isUpstreamPath,
  mayBeSecret,
  setTimeoutMs,
  within,
} from '../values.ts';
import type { Directive } from './directives.ts';
import { msOf, type Scope } from './scope.ts';
import type { NginxService, NginxServices } from './services.ts';

const DEFAULT_TIMEOUT_MS = 60_000;

/** A location of nginx as its route needs it. */
export interface Location {
  /** As it stands in the file, such as `/a/`. */
  readonly text: string;
  readonly path: WayPath;
  readonly scope: Scope;
  readonly place: string;
}

/** Sets what proxy_pass and the directives around it do. What cannot be done exactly leaves the route out. */
export function readProxy(
  route: RouteDraft,
  location: Location,
  services: NginxServices,
  proxyPass: Directive,
): void {
  const { scope } = location;
  const [text = ''] = proxyPass.args;
  const parts = /^(https?):\/\/([^/$]+)(\/[^$]*)?$/.exec(text);
  if (parts === null) {
    route.leftOut = 'proxy_pass has variables or is no URL of http or https';
    return;
  }
  const [, scheme = '', host = '', uri] = parts;
  const service = services.named(scheme, host, proxyPass.place);
  if (service.draft.leftOut !== undefined) {
    route.leftOut = `its upstream ${host} is not converted: ${service.draft.leftOut}`;
  }
  route.fields.set('service', service.draft.name);
  const problem = rewritePath(route, location, uri);
  if (problem !== undefined) route.leftOut ??= problem;
  const changing = [
    'proxy_method',
    'proxy_set_body',
    'proxy_pass_request_body',
    'proxy_pass_request_headers',
  ];
  const change = changing.map((name) => scope.setting(name)).find((one) => one !== undefined);
  if (change !== undefined) route.leftOut ??= `${change.name} changes the request`;
  if (service.hash !== undefined) setAffinity(route, service.hash);
  setLocations(route, scope);
  const files = scope.own('try_files').at(0);
  if (files !== undefined) route.leftOut ??= 'try_files: the gateway serves no files';
  const copies = scope.setting('mirror');
  if (copies !== undefined && copies.args[0] !== 'off') {
    route.missing(copies.place, 'mirror: see mirror of a route', 'mirror');
  }
  setHost(route, scope, service);
  setRequestHeaders(route, scope);
  setTimes(route, scope, service);
}

/**
 * What nginx does with the path: with a URI in proxy_pass, that takes the place of the text of the location. Returns why it
 * cannot be said with strip_prefix, add_prefix and path.
 */
function rewritePath(
  route: RouteDraft,
  { text, path, scope }: Location,
  uri: string | undefined,
): string | undefined {
  const rewrites = scope.own('rewrite');
  const [first] = rewrites;
  if (first !== undefined) {
    const [pattern = '', target = '', flag = ''] = first.args;
    const from = /^\^((?:\/[A-Za-z0-9_~-]+)*)\/(?:\(\.\*\)|\(\.\+\))\$?$/.exec(pattern)?.[1];
    const to = /^((?:\/[A-Za-z0-9_~-]+)*)\/\$1$/.exec(target)?.[1];
    const isPlain =
      rewrites.length === 1 && flag === 'break' && from !== undefined && to !== undefined;
    if (!isPlain || path.kind !== 'prefix' || path.path !== (from || '/')) {
      return 'rewrite: only that of its whole prefix, with break, has an equivalent';
    }
    if (to !== '' && !isUpstreamPath(to)) return `rewrite: its path ${to} is too long`;
    if (from !== '') route.rewrite.set('strip_prefix', from);
    if (to !== '') route.rewrite.set('add_prefix', to);
    return undefined;
  }
  if (uri === undefined) return undefined;
  if (!isUpstreamPath(uri)) return `the path ${uri} of proxy_pass must be in its normal form`;
  if (path.kind === 'exact') {
    route.rewrite.set('path', uri);
    return undefined;
  }
  const isSlashed = text.endsWith('/');
  // `/a/` with `/b` makes `/bx` of `/a/x`, and `/a` with `/b/` makes `/b//x`.
  if (isSlashed !== uri.endsWith('/')) {
    if (uri !== '/')
      return `proxy_pass joins ${uri} and the rest of the path ${isSlashed ? 'without a slash' : 'with two slashes'}`;
    route.different(
      route.place,
      'nginx sends two slashes at the start of the path, the gateway one',
      'rewrite',
    );
  }
  if (path.path !== '/') route.rewrite.set('strip_prefix', path.path);
  if (uri !== '/') route.rewrite.set('add_prefix', uri.replace(/\/$/, ''));
  return undefined;
}

const ADDRESS = /^\$(?:binary_)?remote_addr$/;

function setAffinity(route: RouteDraft, { name, args, place }: Directive): void {
  const [key = ''] = args;
  const header = /^\$http_([a-z0-9_]+)$/.exec(key)?.[1]?.replaceAll('_', '-') ?? '';
  if (name === 'ip_hash' || ADDRESS.test(key)) {
    route.fields.set('affinity', { by: 'ip', retry_elsewhere: true });
  } else if (isFieldName(header) && !isRefusedField(header)) {
    route.fields.set('affinity', { by: 'header', header, retry_elsewhere: true });
  } else route.missing(place, 'hash: by something that is no address and no header', 'affinity');
}

/** nginx maps the address of the upstream in Location and Refresh by default. */
function setLocations(route: RouteDraft, scope: Scope): void {
  const redirects = scope.inherited('proxy_redirect');
  route.fields.set('locations', redirects.some(({ args }) => args[0] === 'off') ? 'off' : 'map');
  const other = redirects.find(({ args: [first] }) => first !== 'off' && first !== 'default');
  if (other !== undefined) {
    const text =
      'proxy_redirect: addresses of the upstream become those of the caller, by no rules of your own';
    route.missing(other.place, text, 'locations');
  }
}

const CALLERS_HOST = /^\$(?:host|http_host|host:\$server_port|http_host:\$server_port)$/;

function setHost(route: RouteDraft, scope: Scope, service: NginxService): void {
  const given = scope
    .inherited('proxy_set_header')
    .findLast(({ args }) => args[0]?.toLowerCase() === 'host');
  const [, value = '$proxy_host'] = given?.args ?? [];
  if (CALLERS_HOST.test(value)) route.rewrite.set('host', 'preserve');
  else if (value === '$proxy_host') {
    // The name of an upstream block, which is not the host of its addresses.
    if (service.isGroup && isHostValue(service.host)) route.rewrite.set('host', service.host);
    else if (service.isGroup)
      route.different(route.place, `upstreams see their own host, not ${service.host}`, 'rewrite');
  } else if (isHostValue(value)) route.rewrite.set('host', value);
  else
    route.missing(
      given?.place ?? route.place,
      'proxy_set_header Host: a value with variables',
      'rewrite',
    );
}

/** Fields that the gateway sends by itself, with the values for which that is the same. */
const SENT: Readonly<Record<string, RegExp>> = {
  'x-forwarded-for': /^\$(proxy_add_x_forwarded_for|remote_addr)$/,
  'x-forwarded-proto': /^(\$scheme|\$http_x_forwarded_proto|https?)$/,
  'x-forwarded-host': /^\$(host|http_host|server_name)$/,
  'x-forwarded-port': /^(\$server_port|\d+)$/,
  'x-request-id': /^\$request_id$/,
  upgrade: /^\$http_upgrade$/,
  connection: /./,
};

const VARIABLES: Readonly<Record<string, string>> = {
  $remote_addr: '{client.ip}',
  $realip_remote_addr: '{client.ip}',
  $request_id: '{request.id}',
};

function setRequestHeaders(route: RouteDraft, scope: Scope): void {
  for (const { args, place } of scope.inherited('proxy_set_header')) {
    const [name = '', value = ''] = args;
    const lower = name.toLowerCase();
    const say = (text: string) =>
      route.missing(place, `proxy_set_header ${name}: ${text}`, 'rewrite');
    if (
      lower === 'host' ||
      (Object.hasOwn(SENT, lower) && (value === '' || SENT[lower]?.test(value) === true))
    )
      continue;
    if (Object.hasOwn(VARIABLES, value) && isFieldName(name) && !isRefusedField(name)) {
      route.change('request_headers', 'set', { name, value: VARIABLES[value] ?? '' });
    } else if (value === `$http_${lower.replaceAll('-', '_')}`) continue;
    else if (!isFieldName(name)) say('it is no field name');
    else if (isRefusedField(name)) say('it cannot be changed; see credential');
    else if (value === '') route.change('request_headers', 'remove', name);
    else if (value.includes('$')) say('a value with variables');
    else if (mayBeSecret(name, value)) say('its value may be a secret and is not repeated');
    else if (!isFieldValue(value)) say('its value has characters that no field has');
    else route.change('request_headers', 'set', { name, value });
  }
}

/** Those that nginx accepts and that a retry can follow. */
const STATUS = /^http_(429|50[0234])$/;

function setTimes(route: RouteDraft, scope: Scope, { count }: NginxService): void {
  const read = scope.setting('proxy_read_timeout');
  const timeoutMs = (read && msOf(read.args)) ?? DEFAULT_TIMEOUT_MS;
  setTimeoutMs(route, timeoutMs, read?.place ?? route.place);
  for (const name of ['proxy_connect_timeout', 'proxy_send_timeout']) {
    const directive = scope.setting(name);
    const ms = directive && msOf(directive.args);
    if (directive === undefined || ms === timeoutMs || ms === DEFAULT_TIMEOUT_MS) continue;
    const text =
      name === 'proxy_connect_timeout'
        ? 'see CONNECT_TIMEOUT_MS of the data plane'
        : 'timeout_ms bounds it';
    route.missing(directive.place, `${name}: ${text}`, 'timeout_ms');
  }
  const next = scope.setting('proxy_next_upstream')?.args ?? ['error', 'timeout'];
  const tries = Number(scope.setting('proxy_next_upstream_tries')?.args[0] ?? 0);
  const limit = tries > 0 ? Math.min(tries, count) : count;
  route.fields.set('retry_count', next.includes('off') ? 0 : within(limit - 1, 0, 10));
  const statuses = next.flatMap((one) => STATUS.exec(one)?.[1] ?? []).map(Number);
  route.fields.set('retry', {
    on_statuses: [...new Set(statuses)],
    ...(next.includes('non_idempotent') && { unsafe_methods: 'always' }),
  });
}
