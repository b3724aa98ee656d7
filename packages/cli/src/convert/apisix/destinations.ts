import { redirect, withoutQuery } from '../answers.ts';
import type { Conversion, RouteDraft } from '../draft.ts';
import { isAddress } from '../values.ts';
import type { ApisixPlugin } from './plugin.ts';

/** redirect: to a constant location. */
export function readRedirect(route: RouteDraft, { node }: ApisixPlugin): void {
  const uri = node.text('uri');
  node.ignore('encode_uri', 'ret_code', 'append_query_string');
  if (node.flag('http_to_https') === true) {
    const text =
      'plugin redirect with http_to_https: the gateway serves this route over http too if it has such a port';
    route.different(node.place, text);
    return;
  }
  if (uri === undefined || uri.includes('$')) {
    node.ignore('regex_uri');
    route.leftOut ??= 'the plugin redirect builds its location of the request';
    return;
  }
  const keepsQuery = node.flag('append_query_string') === true;
  redirect(route, node.number('ret_code') ?? 302, keepsQuery ? uri : withoutQuery(uri));
}

/** proxy-mirror: copies go to a service of their own. */
export function readMirror(
  route: RouteDraft,
  { node }: ApisixPlugin,
  conversion: Conversion,
): void {
  const host = node.text('host') ?? '';
  const ratio = node.number('sample_ratio') ?? 1;
  node.ignore('path_concat_mode');
  const isUsable = isAddress(/^https?:\/\/([^/]*)\/?$/.exec(host)?.[1] ?? '') && !node.has('path');
  if (!isUsable || ratio > 1 || ratio <= 0) {
    node.ignore('path');
    route.missing(node.place, 'plugin proxy-mirror: with a path, or with no URL of http', 'mirror');
    return;
  }
  mirrorTo(conversion, route, host.replace(/\/$/, ''), node.place, ratio * 100);
}

/** The largest body that a copy can have. */
const MAX_COPIED_BYTES = 10 * 1024 * 1024;

/** Sets where copies go. The service of them is made for the route. */
function mirrorTo(
  conversion: Conversion,
  route: RouteDraft,
  url: string,
  place: string,
  percent: number,
): void {
  const service = conversion.addService(`${route.name}-mirror`, place);
  service.fields.set('url', url);
  route.fields.set('mirror', { service: service.name, percent, max_body_bytes: MAX_COPIED_BYTES });
  const text =
    'copies have no credentials of callers unless pass_credentials is true, and no body above 10 MiB';
  route.different(place, text, 'mirror');
}
