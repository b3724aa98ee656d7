import { redirect, respond, withoutQuery } from '../answers.ts';
import type { RouteDraft, WayPath } from '../draft.ts';
import type { Directive } from './directives.ts';
import { setLimits } from './limits.ts';
import type { Location } from './proxy.ts';
import type { Scope } from './scope.ts';

/** Where a location stands. */
interface ServerBlock {
  readonly scope: Scope;
  /** Its names; undefined: none that `match` can have. */
  readonly hosts: readonly string[] | undefined;
}

/** Sets what `return` answers. It comes before the checks of access, so it is open even below a password. */
export function readReturn(
  server: ServerBlock,
  route: RouteDraft,
  location: Location,
  { args, place }: Directive,
): void {
  const { scope } = location;
  const [first = '', second] = args;
  const isStatus = /^\d{3}$/.test(first);
  const status = isStatus ? Number(first) : 302;
  const text = (isStatus ? second : first) ?? '';
  if (
    route.leftOut === undefined &&
    (!isStatus || (status >= 300 && status < 400 && status !== 304))
  ) {
    redirectTo(server, route, location, status, text);
  } else if (text.includes('$')) {
    route.leftOut ??= 'return with a text that has variables';
    if (status >= 400) route.access = 'guarded';
  } else {
    const field = scope
      .inherited('add_header')
      .find(({ args: [name] }) => name?.toLowerCase() === 'content-type');
    const type = field?.args[1] ?? scope.setting('default_type')?.args[0] ?? 'text/plain';
    respond(route, status, text, type);
  }
  if (
    scope.inherited('add_header').some(({ args: [name] }) => name?.toLowerCase() !== 'content-type')
  ) {
    route.missing(
      place,
      'add_header: an answer of the gateway itself has no other fields',
      'respond',
    );
  }
  setLimits(route, scope);
}

/**
 * `https://other.example.com$request_uri` and constants. To the same host and a path of the location it would be the redirect
 * from http to https.
 */
function redirectTo(
  { scope: block, hosts = [] }: ServerBlock,
  route: RouteDraft,
  { path }: Location,
  status: number,
  text: string,
): void {
  const isTls = block.own('listen').some(({ args }) => args.includes('ssl'));
  const location = text.replace(/^\$scheme:/, isTls ? 'https:' : 'http:');
  const [, start = '', variable] = /^(.*?)(\$request_uri|\$uri)?$/.exec(location) ?? [];
  const host = /^https?:\/\/([^/:]+)/.exec(start)?.[1] ?? '';
  const isOwn = hosts.includes(host) && (variable !== undefined || isWithin(path, pathOf(start)));
  if (/^\$|^_$/.test(host) || isOwn) {
    route.leftOut ??= 'a redirect to the same host: routes do not tell http from https';
    return;
  }
  if (variable === undefined) redirect(route, status, withoutQuery(start));
  else if (path.path === '/' && !start.endsWith('/'))
    redirect(route, status, `${start}/{path.rest}`);
  else route.leftOut ??= 'return with variables';
}

/** The path of a URL. */
function pathOf(url: string): string {
  return url.replace(/^https?:\/\/[^/?#]*|[?#].*$/g, '') || '/';
}

/** Whether a location takes the path. */
function isWithin({ kind, path }: WayPath, other: string): boolean {
  if (kind === 'exact') return other === path;
  return other.startsWith(kind === 'prefix' && path !== '/' ? `${path}/` : path) || other === path;
}
