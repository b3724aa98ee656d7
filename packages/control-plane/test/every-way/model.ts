import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { parseAddressRanges } from '@gateway/shared/net/upstream-addresses';
import { routeSchemas } from '../../src/routes/route.ts';
import { serviceSchemas } from '../../src/services/service.ts';

/** The services and routes of an environment, told in the simplest way: lists and copies. */

export type Fields = Readonly<Record<string, unknown>>;
export type Kind = 'service' | 'route';

const noAddress = parseAddressRanges([]);

/** The bodies with every setting of each kind. */
export const WHOLE = {
  service: serviceSchemas(noAddress).declared,
  route: routeSchemas(noAddress).create,
} as const;

/** A resource as it is after a change. It is never changed: another one takes its place. */
export interface Resource {
  /** The model's own; a route names services by it. */
  readonly id: string;
  readonly kind: Kind;
  readonly revision: number;
  /** Every setting. Secrets are as they were given. */
  readonly settings: Fields;
  /** Which secrets are stored: each that was set has a number. */
  readonly secrets: Fields;
  /** Before the last change; undefined: it was created by that. */
  readonly previous: Resource | undefined;
}

export type State = readonly Resource[];

export const nameOf = ({ settings }: Resource) => String(settings['name']);

export function find(state: State, kind: Kind, name: unknown): Resource | undefined {
  return state.find((one) => one.kind === kind && nameOf(one) === name);
}

/** The ids of the services of a route. */
export function servicesOf({ service_id, versions }: Fields): readonly string[] {
  const named = ((versions ?? []) as readonly Fields[]).map((version) => version['service_id']);
  return [service_id ?? [], named].flat().map(String);
}

/** Of which a route has one. */
export const TARGETS = ['service_id', 'versions', 'respond', 'redirect'];

/** All settings of a body: what it leaves out has its default. */
export function wholeSettings(kind: Kind, body: Fields): Fields {
  const parsed = WHOLE[kind].parse(body) as Fields;
  if (kind === 'route') return { service_id: null, versions: null, ...parsed };
  const { url, ...rest } = parsed;
  return {
    credential: null,
    ...rest,
    upstreams: parsed['upstreams'] ?? [{ url, region: null, weight: 1 }],
    tls: wholeTls(parsed['tls']),
  };
}

/** The settings of a body that replaces a resource: it keeps one setting if it is left out. */
export function replacedSettings(kind: Kind, body: Fields, before: Resource | undefined): Fields {
  const isKept = kind === 'route' && before !== undefined && body['locations'] === undefined;
  return wholeSettings(kind, isKept ? { ...body, locations: before.settings['locations'] } : body);
}

/** The value of a setting in what was stored before the setting existed. */
export function formerValue(kind: Kind, setting: string): unknown {
  return setting === 'locations' ? 'off' : defaultsOf(kind)[setting];
}

/** The settings of a body that has only what it must have. */
export function defaultsOf(kind: Kind): Fields {
  const target = kind === 'route' ? { service_id: '' } : { url: 'http://a.example' };
  return wholeSettings(kind, { name: 'a', ...target });
}

/** No TLS setting at all is the same as none. */
function wholeTls(given: unknown): Fields | null {
  const { ca_pem = null, server_name = null, client_certificate = null } = (given ?? {}) as Fields;
  const isNone = ca_pem === null && server_name === null && client_certificate === null;
  return isNone ? null : { ca_pem, server_name, client_certificate };
}

/** The settings after a PATCH: objects are merged, all else is replaced. */
export function mergedSettings(kind: Kind, before: Fields, body: Fields): Fields {
  const defaults = defaultsOf(kind);
  const after: Record<string, unknown> = { ...before };
  const shape = WHOLE[kind].shape as Readonly<Record<string, z.ZodType>>;
  for (const [name, value] of Object.entries(body)) {
    const isMerged = name === 'tls' || (name !== 'auth' && isObject(defaults[name]));
    after[name] =
      isMerged && value ? { ...(before[name] as object), ...value } : shape[name]?.parse(value);
  }
  if (TARGETS.some((name) => body[name])) {
    for (const name of TARGETS) if (!body[name]) after[name] = null;
  }
  return kind === 'route' ? after : { ...after, tls: wholeTls(after['tls']) };
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

let made = 0;

/**
 * The resource with other settings; itself if they are the same.
 *
 * @param isPatch then a secret that is given is stored anew, also if it is the same
 */
export function changed(
  before: Resource,
  settings: Fields,
  body: Fields,
  isPatch = false,
): Resource {
  const given = secretsOf(settings);
  const old = secretsOf(before.settings);
  const patched = isPatch ? secretsOf(body) : {};
  const secrets = Object.fromEntries(
    Object.entries(given).map(([name, secret]) => {
      if (secret === null) return [name, null];
      const isKept = isDeepStrictEqual(secret, old[name]) && !patched[name];
      return [name, isKept ? before.secrets[name] : (made += 1)];
    }),
  );
  if (isDeepStrictEqual([settings, secrets], [before.settings, before.secrets])) return before;
  return { ...before, settings, secrets, revision: before.revision + 1, previous: before };
}

/** A new resource. */
export function added(kind: Kind, settings: Fields): Resource {
  const id = `${kind} ${(made += 1)}`;
  const none = { id, kind, revision: 0, settings: {}, secrets: {}, previous: undefined };
  return { ...changed(none, settings, {}), previous: undefined };
}

function secretsOf({ credential, tls }: Fields): Fields {
  const certificate = (tls as Fields | null | undefined)?.['client_certificate'];
  return { credential: credential ?? null, certificate: certificate ?? null };
}

/** The state with this resource in place of the one that has its id. */
export function withResource(state: State, after: Resource): State {
  return [...state.filter(({ id }) => id !== after.id), after];
}

export function withoutResource(state: State, gone: Resource): State {
  return state.filter(({ id }) => id !== gone.id);
}

/** Whether the names of services and of routes are unique. */
export function hasUniqueNames(state: State): boolean {
  return new Set(state.map((one) => `${one.kind} ${nameOf(one)}`)).size === state.length;
}
