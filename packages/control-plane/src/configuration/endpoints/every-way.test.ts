import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import { isDeepStrictEqual } from 'node:util';
import { startTestApi, type Answer, type TestApi } from '../../../test/api.ts';
import { anyOfFields, anyValueOf } from '../../../test/any-field.ts';
import {
  added,
  changed,
  find,
  hasUniqueNames,
  mergedSettings,
  nameOf,
  servicesOf,
  WHOLE,
  wholeSettings,
  withoutResource,
  withResource,
  type Fields,
  type Kind,
  type Resource,
  type State,
} from '../../../test/configuration-model.ts';
import { etagOf } from '../../http/etag.ts';

/** How long sequences are tried, ms. The seed of a failure is in its message. */
const TRIED_MS = 8000;

let api: TestApi;
let environments = 0;
beforeAll(async () => void (api = await startTestApi()));
afterAll(() => api.close());

const WAYS = ['POST', 'PATCH', 'PUT', 'DELETE', 'apply', 'roll-back', 'revert', 'upgrade'] as const;
const NAMES = ['a', 'b', 'c'];
const PATHS = { service: '/v1/services', route: '/v1/routes' } as const;

const {
  name: _service,
  url,
  upstreams,
  health_check,
  credential,
  ...serviceShape
} = WHOLE.service.shape;
const { name: _route, service_id: _id, versions: _versions, ...routeShape } = WHOLE.route.shape;
// A path that is given is the same as none if it is `health_path`; export.test.ts has it.
const anyCheck = anyValueOf(health_check).map((check) => ({ ...(check as Fields), path: null }));
const anyService = fc
  .tuple(
    anyOfFields({ ...serviceShape, credential }),
    fc.option(anyCheck),
    fc.oneof(
      anyValueOf(url).map((given) => ({ url: given })),
      anyValueOf(upstreams).map((given) => ({ upstreams: given })),
    ),
  )
  .map(([fields, check, where]) => ({
    ...fields,
    ...(check && { health_check: check }),
    ...where,
  }));
const anyRoute = anyOfFields(routeShape);

const anyNames = <T>(body: fc.Arbitrary<T>) =>
  fc.option(
    fc.uniqueArray(fc.record({ name: fc.constantFrom(...NAMES), body, target: fc.nat() }), {
      selector: ({ name }) => name,
      maxLength: 3,
    }),
  );
const anyStep = fc.record({
  way: fc.constantFrom(...WAYS),
  kind: fc.constantFrom<Kind>('service', 'route'),
  pick: fc.nat(),
  name: fc.constantFrom(...NAMES),
  isRenamed: fc.boolean(),
  service: anyService,
  route: anyRoute,
  document: fc.record({
    services: anyNames(anyService),
    routes: anyNames(anyRoute),
    prune: fc.boolean(),
  }),
});
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never;

const chosen = <T>(items: readonly T[], pick: number): T | undefined => items[pick % items.length];

/** An environment, and what the model says of it. */
interface World {
  readonly environment: string;
  state: State;
  /** The state of each published version. */
  readonly versions: Map<number, State>;
  /** The ids of the API by those of the model. */
  readonly ids: Map<string, string>;
  /** The highest revision of each resource. */
  readonly highest: Map<string, number>;
}

/** The status of a call, and the state after it. */
type Expected = readonly [status: number, state: State];

/** One service, or two versions. */
function targetOf(
  services: readonly string[],
  pick: number,
  field: 'service' | 'service_id',
): Fields {
  const [first, second] = [chosen(services, pick), chosen(services, pick + 1)];
  if (first === second || pick % 3 !== 0) return { [field]: first };
  return {
    versions: [
      { name: 'stable', [field]: first, weight: 9 },
      { name: 'canary', [field]: second, weight: pick % 10 },
    ],
  };
}

/** Runs a step. Undefined: there is nothing to do. */
async function run(world: World, step: Step): Promise<Expected | undefined> {
  const { way, kind, pick, name } = step;
  const { state, environment } = world;
  const ofKind = state.filter((one) => one.kind === kind);
  const resource = chosen(ofKind, pick);
  const services = state.filter((one) => one.kind === 'service');
  const target =
    kind === 'route'
      ? targetOf(
          services.map(({ id }) => id),
          pick,
          'service_id',
        )
      : {};
  const body: Fields = { ...(kind === 'route' ? step.route : step.service), ...target };
  const isAimless = kind === 'route' && services.length === 0;
  const path = `${PATHS[kind]}/${resource === undefined ? '' : (world.ids.get(resource.id) ?? '')}`;
  let answer: Answer;
  let expected: Expected;
  switch (way) {
    case 'POST': {
      if (isAimless) return undefined;
      const isTaken = find(state, kind, name) !== undefined;
      const sent = { ...sentOf(world, body), name, ...(kind === 'service' && { environment }) };
      answer = await api.call('POST', PATHS[kind], { body: sent });
      const after = isTaken
        ? state
        : [...state, added(kind, wholeSettings(kind, { ...body, name }))];
      expected = [isTaken ? 409 : 201, after];
      break;
    }
    case 'PUT': {
      if (isAimless) return undefined;
      const before = find(state, kind, name);
      const settings = wholeSettings(kind, { ...body, name });
      const after = before === undefined ? added(kind, settings) : changed(before, settings, body);
      const sent = sentOf(world, body);
      answer = await api.call('PUT', `${PATHS[kind]}/${name}?environment=${environment}`, {
        body: sent,
      });
      expected = [before === undefined ? 201 : 200, withResource(state, after)];
      break;
    }
    case 'PATCH': {
      if (resource === undefined || isAimless) return undefined;
      const { url: _url, ...patched } = { ...body, ...(step.isRenamed && { name }) } as Fields;
      answer = await api.call('PATCH', path, { body: sentOf(world, patched) });
      const settings = mergedSettings(kind, resource.settings, patched);
      const check = settings['health_check'] as
        | { timeout_ms: number; interval_ms: number }
        | undefined;
      const isFault = patched['health_check'] && check && check.timeout_ms > check.interval_ms;
      const after = withResource(state, changed(resource, settings, patched, true));
      expected = isFault ? [400, state] : hasUniqueNames(after) ? [200, after] : [409, state];
      break;
    }
    case 'DELETE': {
      if (resource === undefined) return undefined;
      answer = await api.call('DELETE', path);
      const isUsed = state.some(({ settings }) => servicesOf(settings).includes(resource.id));
      const inUse = kind === 'service' && isUsed;
      expected = inUse ? [409, state] : [204, withoutResource(state, resource)];
      break;
    }
    case 'apply': {
      const { document, plan } = documentOf(world, step);
      answer = await api.call('POST', `/v1/environments/${environment}/apply`, { body: document });
      expected = plan;
      if (answer.status === 200) expect(answer.json.data?.['changed']).toBe(plan[1] !== state);
      break;
    }
    case 'roll-back': {
      const version = chosen([...world.versions.keys()], pick);
      if (version === undefined) return undefined;
      answer = await api.call('POST', `/v1/environments/${environment}/rollback`, {
        body: { version },
      });
      expected = [200, rolledBack(world, world.versions.get(version) ?? [])];
      break;
    }
    case 'revert': {
      const { previous } = resource ?? {};
      if (resource === undefined || previous === undefined) return undefined;
      if (!isDeepStrictEqual(previous.secrets, resource.secrets)) return undefined;
      const names = Object.keys(resource.settings).filter(
        (field) => !isDeepStrictEqual(resource.settings[field], previous.settings[field]),
      );
      if (names.length === 0 || names.includes('tls')) return undefined;
      const gone = servicesOf(previous.settings).some((id) => !state.some((one) => one.id === id));
      if (gone) return undefined;
      const before = Object.fromEntries(
        [...names, ...(kind === 'route' ? ['service_id', 'versions'] : [])].map((field) => [
          field,
          previous.settings[field],
        ]),
      );
      const etag = etagOf({ id: world.ids.get(resource.id), revision: resource.revision });
      answer = await api.call('PATCH', path, {
        body: sentOf(world, before),
        headers: { 'if-match': etag },
      });
      const after = withResource(state, changed(resource, { ...resource.settings, ...before }, {}));
      expected = hasUniqueNames(after) ? [200, after] : [409, state];
      break;
    }
    case 'upgrade':
      await forgetSetting(world, pick);
      return [0, state];
  }
  expect({
    way,
    status: answer.status,
    text: answer.status === expected[0] ? '' : answer.text,
  }).toEqual({
    way,
    status: expected[0],
    text: '',
  });
  return expected;
}

/** A body with the ids of the API. */
function sentOf({ ids }: World, body: Fields): Fields {
  const idOf = (id: unknown) => ids.get(String(id)) ?? id;
  const { service_id, versions } = body as {
    service_id?: unknown;
    versions?: readonly Fields[] | null;
  };
  return {
    ...body,
    ...(service_id !== undefined && { service_id: idOf(service_id) }),
    ...(versions && {
      versions: versions.map((version) => ({
        ...version,
        service_id: idOf(version['service_id']),
      })),
    }),
  };
}

/** A document to apply, and what comes of it. */
function documentOf({ state }: World, { document }: Step): { document: object; plan: Expected } {
  const services = document.services?.map(({ name, body }) => ({ ...body, name }));
  const routes = document.routes?.map(({ name, body, target }) => ({
    ...body,
    ...targetOf(NAMES, target, 'service'),
    name,
  }));
  const sent = { prune: document.prune, ...(services && { services }), ...(routes && { routes }) };
  const kept = ({ kind, settings }: Resource) => {
    const declared = kind === 'service' ? services : routes;
    const isDeclared = declared?.some(({ name }) => name === settings['name']) ?? true;
    return isDeclared || !document.prune;
  };
  let after: State = state.filter(kept);
  const declare = (kind: Kind, body: Fields) => {
    const before = find(state, kind, body['name']);
    const settings = wholeSettings(kind, body);
    after = withResource(after, before ? changed(before, settings, body) : added(kind, settings));
  };
  for (const service of services ?? []) declare('service', service);
  const idOf = (name: unknown) => find(after, 'service', name)?.id;
  let isMissing = false;
  for (const { service, versions, ...plain } of (routes ?? []) as Fields[] &
    { service?: unknown; versions?: readonly Fields[] }[]) {
    const named = versions?.map((one) => ({
      name: one['name'],
      weight: one['weight'],
      service_id: idOf(one['service']),
    }));
    const route = named === undefined ? { service_id: idOf(service) } : { versions: named };
    const ids = named?.map(({ service_id }) => service_id) ?? [idOf(service)];
    if (ids.includes(undefined)) isMissing = true;
    else declare('route', { ...plain, ...route });
  }
  if (isMissing) return { document: sent, plan: [400, state] };
  const isUsed = after.some(({ kind, settings }) =>
    kind === 'route'
      ? servicesOf(settings).some((id) => !after.some((one) => one.id === id))
      : false,
  );
  if (isUsed) return { document: sent, plan: [409, state] };
  const isSame = after.length === state.length && after.every((one) => state.includes(one));
  return { document: sent, plan: [200, isSame ? state : after] };
}

/** The state of a version again. A resource that differs gets a revision that it never had. */
function rolledBack({ state, highest }: World, then: State): State {
  return then.map((resource) => {
    const now = state.find(({ id }) => id === resource.id);
    const isSame =
      now !== undefined &&
      isDeepStrictEqual([now.settings, now.secrets], [resource.settings, resource.secrets]);
    if (isSame) return now;
    return { ...resource, revision: (highest.get(resource.id) ?? 0) + 1, previous: now };
  });
}

/** Settings with a default, without those as old as the first release. */
const SETTINGS: readonly (readonly [Kind, string])[] = [
  ...Object.keys(routeShape).map((field) => ['route', field] as const),
  ...['limits', 'send_via', 'health_path'].map((field) => ['service', field] as const),
];

/** Makes the history as a release left it that did not have one of the settings: then it has its default. */
async function forgetSetting({ environment, versions, state }: World, pick: number): Promise<void> {
  const [kind, field] = SETTINGS[pick % SETTINGS.length] as (typeof SETTINGS)[number];
  await sql`
    UPDATE config_outbox SET before = before - ${field}::text, after = after - ${field}::text
    WHERE environment = ${environment} AND kind = ${kind}
  `.execute(api.db);
  const minimal = kind === 'route' ? { service_id: '' } : { url: 'http://a.example' };
  const { [field]: value } = wholeSettings(kind, { name: 'a', ...minimal });
  for (const [version, then] of versions) {
    const forgotten = then.map((resource) => {
      // The history has nothing of what did not change since.
      const isUnchanged =
        state.find(({ id }) => id === resource.id)?.revision === resource.revision;
      if (resource.kind !== kind || isUnchanged) return resource;
      return { ...resource, settings: { ...resource.settings, [field]: value } };
    });
    versions.set(version, forgotten);
  }
}

/** The environment has what the model says, and nothing else. */
async function compare(world: World): Promise<void> {
  const { state, ids, highest, environment } = world;
  for (const kind of ['service', 'route'] as const) {
    const list = await api.call('GET', `${PATHS[kind]}?limit=200&environment=${environment}`);
    const shown = list.json.data ?? [];
    for (const resource of state.filter((one) => one.kind === kind)) {
      const same = shown.find(({ name }) => name === nameOf(resource));
      if (!ids.has(resource.id)) ids.set(resource.id, same?.id ?? '');
      highest.set(resource.id, Math.max(resource.revision, highest.get(resource.id) ?? 0));
    }
    const expected = state
      .filter((one) => one.kind === kind)
      .map(({ id, revision, settings }) => ({
        id: ids.get(id),
        revision,
        ...shownOf(world, settings),
      }));
    const byId = (a: { id?: unknown }, b: { id?: unknown }) =>
      String(a.id) < String(b.id) ? -1 : 1;
    const actual = shown.map((view) => settingsIn(kind, view)).toSorted(byId);
    expect(actual).toEqual(expected.toSorted(byId));
  }
}

/** Settings as a response has them, without what only it has. */
function shownOf(world: World, settings: Fields): Fields {
  const { credential: secret, tls, health_check: check, ...rest } = settings;
  if (!('upstreams' in settings)) return { ...sentOf(world, settings) };
  const certificate = (tls as Fields | null)?.['client_certificate'] as Fields | null | undefined;
  return {
    ...rest,
    health_check: { ...(check as Fields), path: rest['health_path'] },
    credential: secret === null ? null : (secret as Fields)['type'],
    tls: tls && { ...tls, client_certificate: certificate?.['cert_pem'] ?? null },
  };
}

function settingsIn(kind: Kind, view: Fields): Fields {
  const { created_at: _c, updated_at: _u, environment: _e, ...rest } = view;
  if (kind === 'route') return rest;
  const { status: _s, url: _url, tls, credential: secret, upstreams: listed, ...service } = rest;
  const certificate = (tls as Fields | null)?.['client_certificate'] as Fields | null | undefined;
  return {
    ...service,
    upstreams: (listed as Fields[]).map(({ id: _i, ...upstream }) => upstream),
    credential: secret === null ? null : (secret as Fields)['type'],
    tls: tls && { ...(tls as Fields), client_certificate: certificate?.['cert_pem'] ?? null },
  };
}

/** Each change has one entry in the outbox and one audit event, and the last entry has the row. */
async function checkHistory({ environment }: World): Promise<void> {
  const { rows } = await sql<{ entries: number; events: number; wrong: number }>`
    WITH entries AS (
      SELECT DISTINCT ON (entity_id) kind, entity_id, after FROM config_outbox
      WHERE environment = ${environment} AND kind IN ('service', 'route')
      ORDER BY entity_id, id DESC
    )
    SELECT
      (SELECT count(*)::int FROM config_outbox
        WHERE environment = ${environment} AND kind IN ('service', 'route')) AS entries,
      (SELECT count(*)::int FROM audit_events
        WHERE environments = ${[environment]}::text[] AND resource_type IN ('service', 'route')) AS events,
      (SELECT count(*)::int FROM entries
        LEFT JOIN services ON services.id = entity_id LEFT JOIN routes ON routes.id = entity_id
        WHERE (coalesce(to_jsonb(services), to_jsonb(routes))->>'revision')
          IS DISTINCT FROM after->>'revision') AS wrong
  `.execute(api.db);
  expect(rows[0]?.wrong).toBe(0);
  expect(rows[0]?.events).toBe(rows[0]?.entries);
}

/** An export has all that an apply needs. */
async function applyExport({ environment }: World): Promise<void> {
  const path = `/v1/environments/${environment}`;
  const { json } = await api.call('GET', `${path}/export`);
  const body = { ...json.data, prune: true };
  const again = await api.call('POST', `${path}/apply`, { body });
  expect([again.status, again.json.data?.['changes']]).toEqual([200, []]);
}

it('any sequence of changes by any way leaves what the simple model says', async () => {
  const property = fc.asyncProperty(
    fc.array(anyStep, { minLength: 4, maxLength: 16 }),
    async (steps) => {
      const environment = `every-way-${(environments += 1)}`;
      await api.call('POST', '/v1/environments', { body: { name: environment } });
      const world: World = {
        environment,
        state: [],
        versions: new Map(),
        ids: new Map(),
        highest: new Map(),
      };
      world.versions.set(await api.publish(environment), []);
      for (const step of steps) {
        api.clock.advance(1000);
        const expected = await run(world, step);
        if (expected === undefined) continue;
        [, world.state] = expected;
        await compare(world);
        if (step.pick % 2 === 0) world.versions.set(await api.publish(environment), world.state);
      }
      await applyExport(world);
      await checkHistory(world);
    },
  );
  await fc.assert(property, { numRuns: 1000, interruptAfterTimeLimit: TRIED_MS });
});
