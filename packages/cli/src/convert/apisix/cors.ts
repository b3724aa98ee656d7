import type { RouteDraft } from '../draft.ts';
import { forwardable, isFieldName, originOf, within } from '../values.ts';
import type { ApisixPlugin } from './plugin.ts';

const DEFAULT_MAX_AGE_S = 5;
const MAX_AGE_S = 86_400;
/** Everything; with two stars also with credentials. */
const EVERY = /^\*{1,2}$/;

/** The plugin cors. */
export function readCors(route: RouteDraft, { node }: ApisixPlugin): void {
  const say = (text: string) => route.missing(node.place, `plugin cors: ${text}`, 'cors');
  const given = node.text('allow_origins') ?? '*';
  const credentials = node.flag('allow_credential') === true;
  const allowed = listOf(node.text('allow_methods') ?? '*');
  const methods = allowed.includes('*') ? allowed : forwardable(allowed);
  const headers = listOf(node.text('allow_headers') ?? '*');
  const expose = listOf(node.text('expose_headers') ?? '');
  const maxAge = node.number('max_age') ?? DEFAULT_MAX_AGE_S;
  const isEvery = EVERY.test(given);
  const listed = listOf(given);
  const origins = isEvery ? ['*'] : [...new Set(listed.flatMap((text) => originOf(text) ?? []))];
  if (origins.length === 0 || (isEvery && credentials) || (credentials && expose.includes('*'))) {
    say(credentials ? 'credentials go with exact origins only' : 'none of its origins is exact');
    return;
  }
  if (!isEvery && origins.length < new Set(listed).size) say('origins that are not exact');
  route.fields.set('cors', {
    origins,
    ...(!methods.includes('*') && methods.length > 0 && { methods }),
    ...(!headers.includes('*') && headers.length > 0 && { headers }),
    ...(expose.length > 0 && { expose }),
    ...(credentials && { credentials }),
    max_age_s: within(maxAge, 0, MAX_AGE_S),
  });
}

/** The names of a list with commas; one that has a star is that alone. */
function listOf(text: string): readonly string[] {
  const items = text.split(',').map((one) => one.trim());
  if (items.some((one) => EVERY.test(one))) return ['*'];
  return [...new Set(items.filter((one) => isFieldName(one) || originOf(one) !== undefined))];
}
