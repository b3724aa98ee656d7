import type { RouteDraft } from './draft.ts';
import { forwardable, isFieldName, originOf, within } from './values.ts';

const MAX_AGE_S = 86_400;
/** Browsers keep the answer to a preflight for as long if nothing is said, and both tools say nothing. */
const DEFAULT_MAX_AGE_S = 5;
/** Of origins, of methods and of names of headers each. */
const MAX_ITEMS = 64;
const EVERY = '*';

/** What the plugin `cors` of a source says. A star in a list stands for everything. */
interface CorsPlugin {
  readonly origins: readonly string[];
  /** What the source calls origins that are not exact. */
  readonly inexact: string;
  readonly methods: readonly string[];
  readonly headers: readonly string[];
  readonly expose: readonly string[];
  readonly credentials: boolean;
  readonly maxAge: number | undefined;
}

/** Sets `cors` of a route; what it cannot have becomes remarks. */
export function setCors(route: RouteDraft, place: string, plugin: CorsPlugin): void {
  const say = (text: string) => route.missing(place, `plugin cors: ${text}`, 'cors');
  const { credentials, maxAge = DEFAULT_MAX_AGE_S } = plugin;
  const isEvery = plugin.origins.includes(EVERY);
  const origins = isEvery ? [EVERY] : [...new Set(plugin.origins.flatMap(exactOrigin))];
  const methods = plugin.methods.includes(EVERY) ? [] : forwardable(plugin.methods);
  const headers = namesOf(plugin.headers);
  const expose = namesOf(plugin.expose);
  if (origins.length === 0 || (credentials && (isEvery || expose.includes(EVERY)))) {
    say(credentials ? 'credentials go with exact origins only' : 'none of its origins is exact');
    return;
  }
  if (!isEvery && origins.length < new Set(plugin.origins).size) say(plugin.inexact);
  if ([origins, methods, headers, expose].some((items) => items.length > MAX_ITEMS)) {
    say(`more than ${MAX_ITEMS} origins, methods or headers`);
  }
  route.fields.set('cors', {
    origins: origins.slice(0, MAX_ITEMS),
    ...(methods.length > 0 && { methods: methods.slice(0, MAX_ITEMS) }),
    ...(headers.length > 0 && { headers: headers.slice(0, MAX_ITEMS) }),
    ...(expose.length > 0 && { expose: expose.slice(0, MAX_ITEMS) }),
    ...(credentials && { credentials }),
    max_age_s: within(maxAge, 0, MAX_AGE_S),
  });
}

function exactOrigin(text: string): readonly string[] {
  const origin = originOf(text);
  return origin === undefined ? [] : [origin];
}

/** Without what is no name of a field. */
function namesOf(names: readonly string[]): readonly string[] {
  return names.includes(EVERY) ? [EVERY] : [...new Set(names.filter(isFieldName))];
}
