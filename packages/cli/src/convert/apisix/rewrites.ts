import type { RouteDraft } from '../draft.ts';
import type { SourceNode } from '../source-node.ts';
import {
  isHostValue,
  isFieldName,
  isFieldValue,
  isRefusedField,
  isUpstreamPath,
  mayBeSecret,
} from '../values.ts';
import type { ApisixPlugin } from './plugin.ts';

/** proxy-rewrite: the path, the host and header fields. A path that cannot be rewritten leaves the route out. */
export function rewriteRequest(route: RouteDraft, { node }: ApisixPlugin): void {
  const uri = node.text('uri');
  const pair = node.texts('regex_uri');
  if (node.get('method') !== undefined)
    route.leftOut ??= 'the plugin proxy-rewrite changes the method';
  if (uri !== undefined) {
    if (isUpstreamPath(uri) && !uri.includes('$')) route.rewrite.set('path', uri);
    else
      route.leftOut ??= `the plugin proxy-rewrite sends it to ${uri}, which has variables or is not in its normal form`;
  } else if (pair !== undefined && !replacePrefix(route, pair)) {
    route.leftOut ??= 'the plugin proxy-rewrite changes the path by a regular expression';
  }
  const host = node.text('host');
  if (host !== undefined) {
    if (!isHostValue(host))
      route.missing(node.place, `the host ${host} of the plugin proxy-rewrite`, 'rewrite');
    else route.rewrite.set('host', host);
  }
  changeHeaders(route, node.get('headers'), 'request_headers', 'proxy-rewrite');
  if (route.leftOut !== undefined) node.ignore('method', 'uri', 'regex_uri');
}

/** `^/a/(.*)` to `/b/$1` removes one prefix and adds another. */
function replacePrefix(route: RouteDraft, pair: readonly string[]): boolean {
  const [pattern = '', target = ''] = pair;
  if (pair.length !== 2) return false;
  const from = /^\^((?:\/[A-Za-z0-9_~-]+)*)\/\(\.\*\)\$?$/.exec(pattern)?.[1];
  const to = /^((?:\/[A-Za-z0-9_~-]+)*)\/\$1$/.exec(target)?.[1];
  if (from === undefined || to === undefined) return false;
  if (to !== '' && !isUpstreamPath(to)) return false;
  const paths = route.ways.flatMap((way) => way.paths);
  const isBelow = ({ path }: { readonly path: string }) =>
    path === from || path.startsWith(`${from}/`);
  if (from !== '') {
    if (paths.length === 0 || !paths.every(isBelow)) return false;
    route.rewrite.set('strip_prefix', from);
  }
  if (to !== '') route.rewrite.set('add_prefix', to);
  return true;
}

/** response-rewrite: header fields with constant values. */
export function rewriteResponse(route: RouteDraft, { node }: ApisixPlugin): void {
  changeHeaders(route, node.get('headers'), 'response_headers', 'response-rewrite');
}

const GROUPS = ['set', 'add', 'remove'] as const;

function changeHeaders(
  route: RouteDraft,
  node: SourceNode | undefined,
  target: 'request_headers' | 'response_headers',
  plugin: string,
): void {
  if (node === undefined) return;
  const isGrouped = GROUPS.some((name) => {
    const value = node.get(name)?.value;
    return typeof value === 'object' && value !== null;
  });
  const say = (place: string, text: string) =>
    route.missing(place, `headers of the plugin ${plugin}: ${text}`, 'rewrite');
  const change = (how: 'set' | 'add' | 'remove', name: string, value: string, place: string) => {
    if (!isFieldName(name)) say(place, 'a name that is no field name');
    else if (isRefusedField(name)) say(place, `${name} cannot be changed; see credential`);
    else if (how === 'remove') route.change(target, 'remove', name);
    else if (mayBeSecret(name, value))
      say(place, `the value of ${name} may be a secret and is not repeated`);
    else if (value.includes('$') || !isFieldValue(value))
      say(place, `the value of ${name} is no constant`);
    else route.change(target, how, { name, value });
  };
  if (!isGrouped) {
    // The old form: a table of fields to set. An empty value removes a field.
    for (const field of node.fields()) {
      const value = field.asText();
      change(value === '' ? 'remove' : 'set', field.name, value, field.place);
    }
    return;
  }
  for (const how of GROUPS) {
    const group = node.get(how);
    const items =
      group === undefined ? [] : Array.isArray(group.value) ? group.items() : group.fields();
    for (const item of items) {
      const text = item.asText();
      if (how === 'remove') change('remove', text, '', item.place);
      else if (Array.isArray(group?.value)) {
        const [name = ''] = text.split(':', 1);
        change(how, name, text.slice(name.length + 1).trim(), item.place);
      } else change(how, item.name, text, item.place);
    }
  }
}
