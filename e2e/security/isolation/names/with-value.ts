import type { ManagementCall } from '../fresh-resources.ts';
import type { Place } from './places.ts';

export interface PlacedCall {
  readonly path: string;
  readonly body?: object;
  readonly headers: Readonly<Record<string, string>>;
}

type Json = Readonly<Record<string, unknown>>;

/** What else must change in a body that has a value at this place; undefined removes a field. */
const BODIES: Readonly<Record<string, (value: string) => Json>> = {
  'versions[].service_id': (service_id) => ({
    service_id: undefined,
    versions: [{ name: 'v1', service_id, weight: 100 }],
  }),
  'routes[].versions[].service': (service) => ({
    services: undefined,
    routes: [{ name: 'fresh', versions: [{ name: 'v1', service, weight: 100 }] }],
  }),
  'mirror.service_id': (service_id) => ({ mirror: { service_id } }),
  'routes[].service': (service) => ({ services: undefined, routes: [{ name: 'fresh', service }] }),
  headers: (environment) => ({ headers: { 'X-Gateway-Environment': environment } }),
  token_id: (token_id) => ({ token_id, anonymous: undefined }),
  'match[].hosts': (host) => ({ match: [wayOn(host)] }),
  host: (host) => ({ host, path: '/' }),
  prune: () => ({ services: [], routes: undefined, prune: true }),
};

let ways = 0;

/** A way that no other route has. */
function wayOn(host: string): object {
  return { hosts: [host], paths: [{ exact: `/${(ways += 1)}` }] };
}

/** The call with this value at this place of its operation. Numbers and lists are made from the text as the field has them. */
export function withValue(
  template: string,
  { path, body }: ManagementCall,
  place: Place,
  value: string,
  headers: Readonly<Record<string, string>> = {},
): PlacedCall {
  const [where = '', name = ''] = place.split(' ');
  const call = { path, ...(body && { body }), headers };
  switch (where) {
    case 'path':
      return { ...call, path: withPart(template, path, name, value) };
    case 'query':
      return { ...call, path: withParameter(path, name, value) };
    case 'header':
      return { ...call, headers: { ...headers, [name]: value } };
    default:
      return { ...call, body: withField(body as Json, name, value) };
  }
}

/** @param template `/v1/services/{id}` */
function withPart(template: string, path: string, name: string, value: string): string {
  const index = template.split('/').indexOf(`{${name}}`);
  const [before = '', query] = path.split('?');
  const parts = before.split('/').with(index, encodeURIComponent(value));
  return parts.join('/') + (query === undefined ? '' : `?${query}`);
}

/** The path with a query parameter, which replaces one of the same name. */
export function withParameter(path: string, name: string, value: string): string {
  const [before = '', query = ''] = path.split('?');
  const parameters = new URLSearchParams(query);
  parameters.set(name, value);
  return `${before}?${parameters.toString()}`;
}

function withField(body: Json, field: string, value: string): Json {
  const special = BODIES[field]?.(value);
  if (special !== undefined) return { ...body, ...special };
  if (field === 'services[].name')
    return { ...body, services: renamed(body, value), routes: undefined };
  if (field === 'routes[].name') {
    const [route] = body['routes'] as readonly Json[];
    return { ...body, routes: [{ ...route, name: value }] };
  }
  if (field === 'routes[].mirror.service') {
    const [route] = body['routes'] as readonly Json[];
    return { ...body, routes: [{ ...route, mirror: { service: value } }] };
  }
  if (field === 'routes[].match[].hosts') {
    const [route] = body['routes'] as readonly Json[];
    return { ...body, routes: [{ ...route, match: [wayOn(value)] }] };
  }
  if (field === 'environment' && 'service_id' in body) {
    return { ...body, service_id: undefined, respond: {}, environment: value };
  }
  if (/[.[]/.test(field)) throw new Error(`say in BODIES what a body with ${field} is like`);
  const isList = ['environments', 'routes', 'scopes'].includes(field);
  const isNumber = ['version', 'if_version'].includes(field);
  return { ...body, [field]: isList ? [value] : isNumber ? Number(value) : value };
}

function renamed(body: Json, name: string): readonly Json[] {
  const [service] = body['services'] as readonly Json[];
  return [{ ...service, name }];
}
