import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { pickFields, withoutDefault } from '@gateway/shared/definitions/derived-schemas';
import { settingsOf, type RouteSettings } from '../routes/route.ts';
import { storedRouteFields } from '@gateway/shared/definitions/route';
import type { RouteMirror } from '@gateway/shared/definitions/route-mirror';
import { serviceFields } from '@gateway/shared/definitions/service';
import type { ServiceSettings } from '../services/service.ts';
import { defaultCheckTimeoutMs } from '@gateway/shared/definitions/service-health-check';
import { isSimpleUpstream } from '../services/service-upstreams.ts';

/**
 * The declared form of services and routes: what a user writes to a file. A resource has no id, and a route names
 * services by their names.
 */

type Fields = Readonly<Record<string, z.ZodType>>;
type Json = Readonly<Record<string, unknown>>;

/** A service with every setting and without any secret, to compare it with another state of it. */
export function wholeService(service: ServiceSettings): Json {
  const { credential, tls } = service;
  const { name, ...plain } = pickFields(serviceFields, service);
  const certificate = tls?.client_certificate;
  return {
    name,
    ...declaredUpstreams(service),
    ...plain,
    credential: credential && { type: credential.type, header: credential.header },
    tls: tls && {
      ca_pem: tls.ca_pem,
      server_name: tls.server_name,
      client_certificate: certificate ? { cert_pem: certificate.cert_pem } : null,
    },
  };
}

/** A service as it is exported: without defaults, and with references in place of its secrets. */
export function exportedService(
  service: ServiceSettings,
  reference: (service: string, secret: string) => string,
): Json {
  const { name, credential, tls, health_check } = service;
  const timeout_ms =
    health_check.timeout_ms === defaultCheckTimeoutMs(health_check.interval_ms)
      ? undefined
      : health_check.timeout_ms;
  const plain = { ...service, health_check: { ...health_check, timeout_ms } };
  return {
    name,
    ...declaredUpstreams(service),
    ...withoutDefaults(serviceFields, plain, ['name']),
    ...(credential === null ? {} : { credential: exportedCredential(service, reference) }),
    ...(tls === null ? {} : { tls: exportedTls(name, tls, reference) }),
  };
}

/** A single upstream without region and weight is its URL. */
function declaredUpstreams({ upstreams }: ServiceSettings): Json {
  const [first] = upstreams;
  if (first !== undefined && upstreams.length === 1 && isSimpleUpstream(first)) {
    return { url: first.url };
  }
  return {
    upstreams: upstreams.map(({ url, region, weight }) => ({
      url,
      ...(region === null ? {} : { region }),
      ...(weight === 1 ? {} : { weight }),
    })),
  };
}

function exportedCredential(
  { name, credential }: ServiceSettings,
  reference: (service: string, secret: string) => string,
): Json | null {
  switch (credential?.type) {
    case 'bearer':
      return { type: 'bearer', token: reference(name, 'token') };
    case 'basic':
      return {
        type: 'basic',
        username: reference(name, 'username'),
        password: reference(name, 'password'),
      };
    case 'header':
      return { type: 'header', name: credential.header, value: reference(name, 'value') };
    default:
      return null;
  }
}

function exportedTls(
  name: string,
  { ca_pem, server_name, client_certificate }: NonNullable<ServiceSettings['tls']>,
  reference: (service: string, secret: string) => string,
): Json {
  return {
    ...(ca_pem === null ? {} : { ca_pem }),
    ...(server_name === null ? {} : { server_name }),
    ...(client_certificate === null
      ? {}
      : {
          client_certificate: {
            cert_pem: client_certificate.cert_pem,
            key_pem: reference(name, 'client_key'),
          },
        }),
  };
}

/** A route with every setting, and the names of its services. */
export function wholeRoute(route: RouteSettings, nameOf: (serviceId: string) => string): Json {
  const { service_id, versions, name, mirror, ...settings } = settingsOf(route);
  return {
    name,
    ...(service_id === null ? {} : { service: nameOf(service_id) }),
    ...(versions === null
      ? {}
      : {
          versions: versions.map(({ name: version, service_id: id, weight }) => ({
            name: version,
            service: nameOf(id),
            weight,
          })),
        }),
    ...settings,
    mirror: mirror && declaredMirror(mirror, nameOf),
  };
}

function declaredMirror(
  { service_id: id, ...settings }: RouteMirror,
  nameOf: (serviceId: string) => string,
): Json {
  return { service: nameOf(id), ...settings };
}

/** Apply keeps `locations` if it is left out, so it is always shown. */
const exportedRouteFields = {
  ...storedRouteFields,
  locations: withoutDefault(storedRouteFields.locations),
};

/** A route as it is exported: without defaults. */
export function exportedRoute(route: RouteSettings, nameOf: (serviceId: string) => string): Json {
  const { name, service, versions } = wholeRoute(route, nameOf);
  const { mirror } = route;
  return {
    name,
    ...(service === undefined ? {} : { service }),
    ...(versions === undefined ? {} : { versions }),
    ...withoutDefaults(exportedRouteFields, route, ['name', 'service_id', 'versions', 'mirror']),
    ...(mirror ? { mirror: exportedMirror(mirror, nameOf) } : {}),
  };
}

function exportedMirror(mirror: RouteMirror, nameOf: (serviceId: string) => string): Json {
  const { shape } = storedRouteFields.mirror.unwrap().unwrap();
  const settings = withoutDefaults(shape, mirror, ['service_id']);
  return { service: nameOf(mirror.service_id), ...settings };
}

/** The fields of `shape` that do not have their defaults, besides `omitted`. */
function withoutDefaults(shape: Fields, value: object, omitted: readonly string[] = []): Json {
  const given = value as Json;
  const shown = Object.entries(shape).flatMap(([name, field]): [string, unknown][] => {
    if (omitted.includes(name) || given[name] === undefined) return [];
    const inner = withoutDefault(field);
    if (inner instanceof z.ZodObject) {
      const nested = withoutDefaults(inner.shape, given[name] as object);
      return Object.keys(nested).length === 0 ? [] : [[name, nested]];
    }
    if (inner instanceof z.ZodNullable && inner.unwrap() instanceof z.ZodObject) {
      if (given[name] === null) return [];
      return [[name, withoutDefaults((inner.unwrap() as z.ZodObject).shape, given[name])]];
    }
    const isDefault = inner !== field && isDeepStrictEqual(field.parse(undefined), given[name]);
    return isDefault ? [] : [[name, given[name]]];
  });
  return Object.fromEntries(shown);
}

/** A field that differs between two states of a resource; its path is a JSON pointer (RFC 6901). */
export interface FieldChange {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The fields that differ, at the deepest level of objects. Lists are compared whole. */
export function fieldChanges(before: Json, after: Json, path = ''): readonly FieldChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name): readonly FieldChange[] => {
    const [old, present] = [before[name], after[name]];
    if (isDeepStrictEqual(old, present)) return [];
    const at = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (isObject(old) && isObject(present)) return fieldChanges(old, present, at);
    return [{ path: at, before: old ?? null, after: present ?? null }];
  });
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
