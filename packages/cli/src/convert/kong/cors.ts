import type { RouteDraft } from '../draft.ts';
import { forwardable, isFieldName, originOf, within } from '../values.ts';
import type { KongPlugin } from './plugin.ts';

/** Browsers keep a preflight for as long if nothing is said. */
const DEFAULT_MAX_AGE_S = 5;
const MAX_AGE_S = 86_400;

/** The plugin cors. */
export function readCors(route: RouteDraft, { node, config }: KongPlugin): void {
  const say = (text: string) => route.missing(node.place, `plugin cors: ${text}`, 'cors');
  const given = config?.texts('origins') ?? ['*'];
  const isEvery = given.includes('*');
  const origins = isEvery ? ['*'] : [...new Set(given.flatMap((text) => originOf(text) ?? []))];
  const credentials = config?.flag('credentials') === true;
  config?.ignore('private_network', 'allow_origin_absent');
  const methods = forwardable(config?.texts('methods') ?? []);
  const headers = namesOf(config?.texts('headers'));
  const expose = namesOf(config?.texts('exposed_headers')) ?? [];
  const maxAge = config?.number('max_age') ?? DEFAULT_MAX_AGE_S;
  if (config?.flag('preflight_continue') === true) {
    say('preflight_continue: the gateway answers preflights itself');
    return;
  }
  if (origins.length === 0 || (isEvery && credentials) || (credentials && expose.includes('*'))) {
    say(credentials ? 'credentials go with exact origins only' : 'none of its origins is exact');
    return;
  }
  if (!isEvery && origins.length < new Set(given).size) {
    say('origins that are regular expressions');
  }
  route.fields.set('cors', {
    origins,
    ...(methods.length > 0 && { methods }),
    ...(headers !== undefined && headers.length > 0 && { headers }),
    ...(expose.length > 0 && { expose }),
    ...(credentials && { credentials }),
    max_age_s: within(maxAge, 0, MAX_AGE_S),
  });
}

function namesOf(names: readonly string[] | undefined): readonly string[] | undefined {
  if (names === undefined) return undefined;
  if (names.includes('*')) return ['*'];
  return [...new Set(names.filter(isFieldName))];
}
