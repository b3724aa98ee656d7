import { setCors } from '../cors-field.ts';
import type { RouteDraft } from '../draft.ts';
import type { ApisixPlugin } from './plugin.ts';

/** The plugin cors. */
export function readCors(route: RouteDraft, { node }: ApisixPlugin): void {
  setCors(route, node.place, {
    origins: listOf(node.text('allow_origins') ?? '*'),
    inexact: 'origins that are not exact',
    methods: listOf(node.text('allow_methods') ?? '*'),
    headers: listOf(node.text('allow_headers') ?? '*'),
    expose: listOf(node.text('expose_headers') ?? ''),
    credentials: node.flag('allow_credential') === true,
    maxAge: node.number('max_age'),
  });
}

/** The items of a list with commas. Two stars stand for everything also where there are credentials. */
function listOf(text: string): readonly string[] {
  const items = text.split(',').map((one) => one.trim());
  return items.map((one) => (one === '**' ? '*' : one)).filter((one) => one !== '');
}
