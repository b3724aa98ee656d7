import { sql } from 'kysely';
import { isDeepStrictEqual } from 'node:util';
import { etagOf } from '../../src/http/etag.ts';
import type { Answer } from '../api.ts';
import { NAMES, SETTINGS, type Step, type WayName } from './any-step.ts';
import {
  added,
  changed,
  find,
  formerValue,
  hasUniqueNames,
  mergedSettings,
  replacedSettings,
  servicesOf,
  TARGETS,
  wholeSettings,
  withoutResource,
  withResource,
  type Fields,
  type Kind,
  type Resource,
  type State,
} from './model.ts';
import { PATHS, sentOf, type World } from './world.ts';

/** A call, the status that it must have, and the state after it. */
export interface Made {
  readonly answer: Answer | undefined;
  readonly status: number;
  readonly state: State;
}

/** Makes a change by one way. Undefined: the environment has nothing to change so. */
type Way = (world: World, step: Step) => Promise<Made | undefined>;

const chosen = <T>(items: readonly T[], pick: number): T | undefined => items[pick % items.length];

const ANSWERS = { affinity: null, streaming: false };

/** One service, two versions, or an answer, with which there are no sessions and no streams. */
function targetOf(services: readonly string[], pick: number, field: string): Fields {
  if (pick % 7 === 0) return { respond: { status: 200 + (pick % 4) }, ...ANSWERS };
  if (pick % 7 === 1) return { redirect: { location: `/${pick}` }, ...ANSWERS };
  const [first, second] = [chosen(services, pick), chosen(services, pick + 1)];
  if (first === second || pick % 3 !== 0) return { [field]: first };
  return {
    versions: [
      { name: 'stable', [field]: first, weight: 9 },
      { name: 'canary', [field]: second, weight: pick % 10 },
    ],
  };
}

/** The body of a step, with services of the model; undefined: a route has none to name. */
function bodyOf({ state }: World, { kind, pick, service, route }: Step): Fields | undefined {
  if (kind === 'service') return service;
  const ids = state.flatMap((one) => (one.kind === 'service' ? [one.id] : []));
  return ids.length === 0 ? undefined : { ...route, ...targetOf(ids, pick, 'service_id') };
}

const existing = ({ state }: World, { kind, pick }: Step) =>
  chosen(
    state.filter((one) => one.kind === kind),
    pick,
  );

const pathOf = ({ ids }: World, { id, kind }: Resource) => `${PATHS[kind]}/${ids.get(id) ?? ''}`;

const post: Way = async (world, step) => {
  const { state, environment } = world;
  const { kind, name } = step;
  const body = bodyOf(world, step);
  if (body === undefined) return undefined;
  const sent = { ...sentOf(world, body), name, environment };
  const answer = await world.api.call('POST', PATHS[kind], { body: sent });
  if (find(state, kind, name) !== undefined) return { answer, status: 409, state };
  const made = added(kind, wholeSettings(kind, { ...body, name }));
  return { answer, status: 201, state: [...state, made] };
};

const put: Way = async (world, step) => {
  const { state, environment } = world;
  const { kind, name } = step;
  const body = bodyOf(world, step);
  if (body === undefined) return undefined;
  const path = `${PATHS[kind]}/${name}?environment=${environment}`;
  const answer = await world.api.call('PUT', path, { body: sentOf(world, body) });
  const before = find(state, kind, name);
  const settings = replacedSettings(kind, { ...body, name }, before);
  const after = before === undefined ? added(kind, settings) : changed(before, settings, body);
  return { answer, status: before ? 200 : 201, state: withResource(state, after) };
};

const patch: Way = async (world, step) => {
  const { state } = world;
  const { kind, name, isRenamed } = step;
  const [before, given] = [existing(world, step), bodyOf(world, step)];
  if (before === undefined || given === undefined) return undefined;
  const { url: _url, ...body } = { ...given, ...(isRenamed && { name }) } as Fields;
  const answer = await world.api.call('PATCH', pathOf(world, before), {
    body: sentOf(world, body),
  });
  const settings = mergedSettings(kind, before.settings, body);
  if (body['health_check'] !== undefined) {
    const check = settings['health_check'] as { timeout_ms: number; interval_ms: number };
    if (check.timeout_ms > check.interval_ms) return { answer, status: 400, state };
  }
  const after = withResource(state, changed(before, settings, body, true));
  return hasUniqueNames(after)
    ? { answer, status: 200, state: after }
    : { answer, status: 409, state };
};

const remove: Way = async (world, step) => {
  const { state } = world;
  const before = existing(world, step);
  if (before === undefined) return undefined;
  const answer = await world.api.call('DELETE', pathOf(world, before));
  const isUsed = state.some(({ settings }) => servicesOf(settings).includes(before.id));
  if (isUsed) return { answer, status: 409, state };
  return { answer, status: 204, state: withoutResource(state, before) };
};

const apply: Way = async (world, { services, routes, prune }) => {
  const { state, environment } = world;
  const declared = {
    service: services?.map(({ name, body }): Fields => ({ ...body, name })),
    route: routes?.map(({ name, body, target }): Fields => {
      return { ...body, ...targetOf(NAMES, target, 'service'), name };
    }),
  };
  const document = {
    prune,
    ...(declared.service && { services: declared.service }),
    ...(declared.route && { routes: declared.route }),
  };
  const path = `/v1/environments/${environment}/apply`;
  const answer = await world.api.call('POST', path, { body: document });
  let after: State = state.filter(({ kind, settings }) => {
    const names = declared[kind]?.map(({ name }) => name);
    return !prune || (names?.includes(settings['name']) ?? true);
  });
  const declare = (kind: Kind, body: Fields) => {
    const before = find(state, kind, body['name']);
    const settings = replacedSettings(kind, body, before);
    after = withResource(after, before ? changed(before, settings, body) : added(kind, settings));
  };
  for (const body of declared.service ?? []) declare('service', body);
  const idOf = (name: unknown) => find(after, 'service', name)?.id;
  for (const { service, versions, ...body } of declared.route ?? []) {
    const named = (versions as readonly Fields[] | undefined)?.map(
      ({ service: of, ...version }) => {
        return { ...version, service_id: idOf(of) };
      },
    );
    if (service === undefined && named === undefined) {
      declare('route', body);
      continue;
    }
    const ids = named?.map(({ service_id }) => service_id) ?? [idOf(service)];
    if (ids.includes(undefined)) return { answer, status: 400, state };
    declare('route', { ...body, ...(named ? { versions: named } : { service_id: ids[0] }) });
  }
  const isMissing = (id: string) => !after.some((one) => one.id === id);
  const isUsed = after.some(
    (one) => one.kind === 'route' && servicesOf(one.settings).some(isMissing),
  );
  if (isUsed) return { answer, status: 409, state };
  return { answer, status: 200, state: after };
};

/** A resource that differs from the version gets a revision that it never had. */
const rollBack: Way = async (world, { pick }) => {
  const { state, environment, versions, highest } = world;
  const version = chosen([...versions.keys()], pick);
  if (version === undefined) return undefined;
  const path = `/v1/environments/${environment}/rollback`;
  const answer = await world.api.call('POST', path, { body: { version } });
  const after = (versions.get(version) ?? []).map((then) => {
    const now = state.find(({ id }) => id === then.id);
    const isSame =
      now !== undefined &&
      isDeepStrictEqual([now.settings, now.secrets], [then.settings, then.secrets]);
    if (isSame) return now;
    return { ...then, revision: (highest.get(then.id) ?? 0) + 1, previous: now };
  });
  return { answer, status: 200, state: after };
};

/** As the console and gwctl revert a change: its fields get their values before, unless it replaced a secret. */
const revert: Way = async (world, { pick }) => {
  const { state, ids } = world;
  const isThere = (id: string) => state.some((one) => one.id === id);
  const reverts = state.flatMap((now) => {
    const { previous: then } = now;
    if (then === undefined || !isDeepStrictEqual(then.secrets, now.secrets)) return [];
    const fields = Object.keys(now.settings).filter(
      (field) => !isDeepStrictEqual(now.settings[field], then.settings[field]),
    );
    const isWhole = !fields.includes('tls') && servicesOf(then.settings).every(isThere);
    if (fields.length === 0 || !isWhole) return [];
    const target = now.kind === 'route' ? TARGETS : [];
    const body = [...fields, ...target].map((field) => [field, then.settings[field]]);
    return [{ now, body: Object.fromEntries(body) as Fields }];
  });
  const reverted = chosen(reverts, pick);
  if (reverted === undefined) return undefined;
  const { now, body } = reverted;
  const etag = etagOf({ id: ids.get(now.id), revision: now.revision });
  const options = { body: sentOf(world, body), headers: { 'if-match': etag } };
  const answer = await world.api.call('PATCH', pathOf(world, now), options);
  const after = withResource(state, changed(now, { ...now.settings, ...body }, {}));
  return hasUniqueNames(after)
    ? { answer, status: 200, state: after }
    : { answer, status: 409, state };
};

/** The history as a release left it that did not have one of the settings. */
const upgrade: Way = async ({ api, environment, versions, state }, { pick }) => {
  const [kind, field] = SETTINGS[pick % SETTINGS.length] as (typeof SETTINGS)[number];
  await sql`
    UPDATE config_outbox SET before = before - ${field}::text, after = after - ${field}::text
    WHERE environment = ${environment} AND kind = ${kind}
  `.execute(api.db);
  const value = formerValue(kind, field);
  for (const [version, then] of versions) {
    const forgotten = then.map((one) => {
      // The history has nothing of what did not change since.
      const isUnchanged = state.find(({ id }) => id === one.id)?.revision === one.revision;
      if (one.kind !== kind || isUnchanged) return one;
      return { ...one, settings: { ...one.settings, [field]: value } };
    });
    versions.set(version, forgotten);
  }
  return { answer: undefined, status: 0, state };
};

export const MAKE: Readonly<Record<WayName, Way>> = {
  POST: post,
  PATCH: patch,
  PUT: put,
  DELETE: remove,
  apply,
  'roll-back': rollBack,
  revert,
  upgrade,
};
