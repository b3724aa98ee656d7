import type { RouteDraft } from '../draft.ts';
import type { SourceNode } from '../source-node.ts';
import { isFieldName, isFieldValue, isRefusedField, mayBeSecret } from '../values.ts';
import type { KongPlugin } from './plugin.ts';

/** The changes of a transformer, with what they become. Kong adds a field only if it is not there. */
const CHANGES = { remove: 'remove', add: 'set', replace: 'set', append: 'add' } as const;

/** request-transformer: header fields and query parameters with constant values. */
export function transformRequest(route: RouteDraft, plugin: KongPlugin): void {
  if (
    plugin.config?.has('http_method') === true ||
    plugin.config?.get('replace')?.has('uri') === true
  ) {
    route.access = 'guarded';
    route.leftOut ??= 'the plugin request-transformer changes the method or the path';
  }
  transform(route, plugin, { headers: 'request_headers', querystring: 'query' });
}

/** response-transformer: header fields with constant values. */
export function transformResponse(route: RouteDraft, plugin: KongPlugin): void {
  transform(route, plugin, { headers: 'response_headers' });
}

type Targets = Readonly<Record<string, 'request_headers' | 'response_headers' | 'query'>>;

function transform(route: RouteDraft, { name, config }: KongPlugin, targets: Targets): void {
  for (const [change, how] of Object.entries(CHANGES)) {
    const node = config?.get(change);
    if (node === undefined) continue;
    for (const [list, target] of Object.entries(targets)) {
      for (const item of node.get(list)?.items() ?? []) {
        const problem = changeOne(route, item.asText(), how, target);
        const label = `${change}.${list} of the plugin ${name}`;
        if (problem !== undefined) route.missing(item.place, `${label}: ${problem}`, 'rewrite');
        else if (how === 'set') {
          const text =
            change === 'add' ? 'also where there is one already' : 'also where there is none yet';
          route.different(item.place, `${label}: it is set ${text}`, 'rewrite');
        }
      }
    }
    for (const field of node.unread()) {
      if (isEmptyList(field)) continue;
      route.missing(field.place, `${change}.${field.name} of the plugin ${name}`, 'rewrite');
    }
  }
}

const isEmptyList = ({ value }: SourceNode): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

/** Adds a change. Returns why it cannot be one; the value is not repeated, because it may be a secret. */
function changeOne(
  route: RouteDraft,
  text: string,
  how: 'set' | 'add' | 'remove',
  target: 'request_headers' | 'response_headers' | 'query',
): string | undefined {
  const [name = ''] = text.split(':', 1);
  const value = text.slice(name.length + 1).trim();
  if (!isFieldName(name)) return 'a name that is no constant';
  if (target !== 'query' && isRefusedField(name))
    return `${name} cannot be changed; see credential`;
  if (how === 'remove') {
    route.change(target, 'remove', name);
    return undefined;
  }
  if (mayBeSecret(name, value)) return `the value of ${name} may be a secret and is not repeated`;
  if (!isFieldValue(value) || /\$\(|<%/.test(value)) return `the value of ${name} is no constant`;
  if (target === 'query' && how === 'add') return `${name} can be set, but not added`;
  route.change(target, how, { name, value });
  return undefined;
}
