import type { CompiledCors } from '../routing-table/compile-cors.ts';
import type { CompiledRoute } from '../routing-table/routing-table.ts';

/**
 * The question of a browser whether a page may send a request (a CORS preflight), which the gateway answers.
 * https://fetch.spec.whatwg.org/#cors-preflight-fetch
 */
export interface Preflight {
  readonly origin: string;
  /** The names of the headers that the request will have besides those that every page may send. In lower case. */
  readonly headers: readonly string[];
  /** The routes that the request may reach, the likeliest first. All allow the origin. */
  readonly routes: readonly (CompiledRoute & { readonly cors: CompiledCors })[];
}

/**
 * The fields of the answer. The page gets what every route allows, because the values of the request's headers, which may
 * decide between the routes, are not known.
 */
export function preflightFields({ origin, headers, routes }: Preflight): string[] {
  const all = routes.map(({ cors }) => cors);
  const [first, ...others] = all;
  const methods = first?.methods.filter((method) =>
    others.every((cors) => cors.methods.includes(method)),
  );
  const allowed = headers.filter((name) => all.every((cors) => cors.headers?.has(name) ?? true));
  const fields = [
    'Access-Control-Allow-Origin',
    all.every(({ isPublic }) => isPublic) ? '*' : origin,
    'Access-Control-Allow-Methods',
    methods?.join(', ') ?? '',
    'Access-Control-Max-Age',
    String(Math.min(...all.map(({ maxAgeS }) => maxAgeS))),
  ];
  if (allowed.length > 0) fields.push('Access-Control-Allow-Headers', allowed.join(', '));
  if (all.every(({ credentials }) => credentials)) {
    fields.push('Access-Control-Allow-Credentials', 'true');
  }
  fields.push('Vary', 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers');
  return fields;
}
