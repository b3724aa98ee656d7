import { setCors } from '../cors-field.ts';
import type { RouteDraft } from '../draft.ts';
import type { KongPlugin } from './plugin.ts';

/** The plugin cors. */
export function readCors(route: RouteDraft, { node, config }: KongPlugin): void {
  config?.ignore('private_network', 'allow_origin_absent');
  const plugin = {
    origins: config?.texts('origins') ?? ['*'],
    inexact: 'origins that are regular expressions',
    methods: config?.texts('methods') ?? [],
    headers: config?.texts('headers') ?? [],
    expose: config?.texts('exposed_headers') ?? [],
    credentials: config?.flag('credentials') === true,
    maxAge: config?.number('max_age'),
  };
  if (config?.flag('preflight_continue') === true) {
    const text = 'plugin cors: preflight_continue: the gateway answers preflights itself';
    route.missing(node.place, text, 'cors');
  } else setCors(route, node.place, plugin);
}
