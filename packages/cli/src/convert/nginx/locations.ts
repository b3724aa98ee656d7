import { respond } from '../answers.ts';
import type { Conversion, RouteDraft, Way, WayPath } from '../draft.ts';
import { literalStart } from '../kong/routes.ts';
import { notePrefix } from '../note-prefix.ts';
import {
  isFieldName,
  isFieldValue,
  isPath,
  isRefusedField,
  mayBeSecret,
  prefixPath,
  setMethods,
} from '../values.ts';
import type { Directive } from './directives.ts';
import { guardsOf } from './known.ts';
import { setLimits } from './limits.ts';
import { readProxy, type Location } from './proxy.ts';
import { readReturn } from './returns.ts';
import { Scope } from './scope.ts';
import type { NginxServices } from './services.ts';

/** A server block, and what its routes need of its file. */
export interface NginxServer {
  readonly conversion: Conversion;
  readonly services: NginxServices;
  readonly directive: Directive;
  readonly scope: Scope;
  /** None: all that no other block names. Undefined: it has names, but none that `match` can have. */
  readonly hosts: readonly string[] | undefined;
  /** Whether it has names that `match` cannot have. */
  readonly isPart: boolean;
  /** Directives that may guard. */
  readonly unknown: ReadonlySet<Directive>;
}

/** Makes a route of each location of a server block. */
export function readLocations(server: NginxServer): void {
  const { conversion, scope, directive } = server;
  const [answer] = scope.own('return');
  if (answer !== undefined) {
    // It comes before the locations.
    const path: WayPath = { kind: 'prefix', path: '/' };
    const location: Location = { text: '/', path, scope, place: answer.place };
    readReturn(server, addRoute(server, location), location, answer);
    return;
  }
  for (const { place } of scope.own('rewrite')) {
    conversion.missing(
      place,
      'rewrite of a server block: it changes paths before a location is chosen',
    );
  }
  if (scope.own('location').length === 0) {
    conversion.missing(
      directive.place,
      'a server block without locations: the gateway serves no files',
    );
  }
  walk(server, scope);
}

function walk(server: NginxServer, parent: Scope): void {
  const locations = parent.own('location');
  const texts = new Set(locations.map(({ args }) => args.at(-1) ?? ''));
  for (const { args, block = [], place } of locations) {
    const scope = new Scope(block, parent);
    const { modifier, text } = modifierOf(args);
    if (text.startsWith('@') && modifier === '') continue;
    readLocation(server, { modifier, text, scope, place, hasSlashed: texts.has(`${text}/`) });
    walk(server, scope);
  }
}

/** The modifier of a location, which may stand before its text without a space. */
function modifierOf(args: readonly string[]): { readonly modifier: string; readonly text: string } {
  const [first = '', second] = args;
  if (second !== undefined) return { modifier: first, text: second };
  const [modifier = ''] = /^(?:=|\^~|~\*|~)/.exec(first) ?? [''];
  return { modifier, text: first.slice(modifier.length) };
}

interface Found {
  readonly modifier: string;
  readonly text: string;
  readonly scope: Scope;
  readonly place: string;
  /** Whether there is a location with the same text and a slash. */
  readonly hasSlashed: boolean;
}

function readLocation(
  server: NginxServer,
  { modifier, text, scope, place, hasSlashed }: Found,
): void {
  const isExpression = modifier.startsWith('~');
  const isUsable = !isExpression && isPath(text);
  const path: WayPath = isUsable
    ? modifier === '=' || hasSlashed
      ? { kind: 'exact', path: text }
      : prefixPath(text)
    : { kind: 'characters', path: isExpression ? literalStart(text) : '/' };
  const location: Location = { text, path, scope, place };
  const route = addRoute(server, location);
  if (isExpression)
    route.leftOut = `location ${modifier} ${text}: there are no regular expressions`;
  else if (!isUsable) route.leftOut = `location ${text}: it must be in its normal form`;
  if (isUsable && path.kind === 'prefix') notePrefix(server.conversion, route, text, place);
  if (hasSlashed && modifier !== '=') {
    route.different(
      place,
      `location ${text}: only this path, because ${text}/ has a location of its own`,
      'match',
    );
  }
  const [answer] = scope.own('return');
  if (answer !== undefined) {
    readReturn(server, route, location, answer);
    return;
  }
  readContent(server, route, location);
}

function addRoute(server: NginxServer, { text, path, place }: Location): RouteDraft {
  const { conversion, hosts, isPart } = server;
  const segments = text.split('/').filter((part) => /^[\w.-]+$/.test(part));
  const route = conversion.addRoute(
    segments.join('-') || hosts?.[0]?.replace('*.', '') || 'root',
    place,
  );
  const way: Way = {
    hosts: hosts ?? [],
    paths: path.path === '/' && path.kind === 'prefix' ? [] : [path],
    headers: [],
  };
  if (way.hosts.length === 0 && way.paths.length === 0) route.ways = [{ ...way, paths: [path] }];
  else route.ways = [way];
  if (isPart) route.lost = [{ ...way, hosts: [] }];
  if (hosts === undefined) route.leftOut = 'its server block has no host that match can have';
  return route;
}

const OTHERS = [
  'fastcgi_pass',
  'uwsgi_pass',
  'scgi_pass',
  'grpc_pass',
  'memcached_pass',
  'stub_status',
];

function readContent(server: NginxServer, route: RouteDraft, location: Location): void {
  const { scope } = location;
  const [proxyPass] = scope.own('proxy_pass');
  const other = OTHERS.find((name) => scope.own(name).length > 0);
  // Neither can be reached from outside.
  if (scope.own('internal').length > 0) respond(route, 404, '', undefined);
  else if (isForbidden(scope)) respond(route, 403, '', undefined);
  else {
    route.access = guardsOf(route, scope, server.unknown) ? 'guarded' : 'open';
    if (proxyPass !== undefined) readProxy(route, location, server.services, proxyPass);
    else
      route.leftOut ??=
        other === undefined ? 'it serves files' : `${other}: the gateway forwards HTTP only`;
  }
  limitMethods(route, scope);
  setResponseHeaders(route, scope);
  setLimits(route, scope);
}

/** `deny all` without an exception, and without a password that would do instead. */
function isForbidden(scope: Scope): boolean {
  const addresses = scope.inherited('allow', 'deny');
  const isAny = scope.setting('satisfy')?.args[0] === 'any';
  return addresses[0]?.name === 'deny' && addresses[0].args[0] === 'all' && !isAny;
}

/** `limit_except GET { deny all; }` accepts GET and HEAD. */
function limitMethods(route: RouteDraft, scope: Scope): void {
  const [limit] = scope.own('limit_except');
  if (limit === undefined) return;
  const isDenied =
    limit.block?.length === 1 &&
    limit.block[0]?.name === 'deny' &&
    limit.block[0].args[0] === 'all';
  if (!isDenied) {
    route.missing(
      limit.place,
      'limit_except: methods with conditions of their own. Callers need a token of the gateway',
      'auth',
    );
    route.access = 'guarded';
    return;
  }
  const isRead = limit.args.includes('GET') && !limit.args.includes('HEAD');
  setMethods(route, isRead ? [...limit.args, 'HEAD'] : limit.args, limit.place);
  route.different(limit.place, 'limit_except: other methods get 405, not 403', 'methods');
}

function setResponseHeaders(route: RouteDraft, scope: Scope): void {
  for (const { args } of scope.inherited('proxy_hide_header')) {
    const [name = ''] = args;
    if (isFieldName(name) && !isRefusedField(name))
      route.change('response_headers', 'remove', name);
  }
  for (const { args, place } of scope.inherited('add_header')) {
    const [name = '', value = '', always] = args;
    const say = (text: string) => route.missing(place, `add_header ${name}: ${text}`, 'rewrite');
    if (/^access-control-/i.test(name)) say('see cors');
    else if (!isFieldName(name) || isRefusedField(name)) say('it cannot be changed');
    else if (value.includes('$')) say('a value with variables');
    else if (mayBeSecret(name, value)) say('its value may be a secret and is not repeated');
    else if (value === '' || !isFieldValue(value))
      say('its value has characters that no field has');
    else {
      route.change('response_headers', 'add', { name, value });
      if (always !== 'always') {
        route.different(
          place,
          `add_header ${name}: every answer of the upstream gets it, not only some statuses`,
          'rewrite',
        );
      }
    }
  }
}
