import { expect } from '@jest/globals';
import { sql } from 'kysely';
import type { TestApi } from '../api.ts';
import { nameOf, type Fields, type Kind, type State } from './model.ts';

export const PATHS = { service: '/v1/services', route: '/v1/routes' } as const;

/** An environment, and what the model says of it. */
export interface World {
  readonly api: TestApi;
  readonly environment: string;
  state: State;
  /** The state of each published version. */
  readonly versions: Map<number, State>;
  /** The ids of the API by those of the model. */
  readonly ids: Map<string, string>;
  /** The highest revision of each resource. */
  readonly highest: Map<string, number>;
}

/** A body with the ids of the API. */
export function sentOf({ ids }: World, body: Fields): Fields {
  const idOf = (id: unknown) => ids.get(String(id)) ?? id;
  const { service_id, versions } = body as {
    readonly service_id?: unknown;
    readonly versions?: readonly Fields[] | null;
  };
  return {
    ...body,
    ...(service_id !== undefined && { service_id: idOf(service_id) }),
    ...(versions && {
      versions: versions.map((one) => ({ ...one, service_id: idOf(one['service_id']) })),
    }),
  };
}

/** The environment has what the model says, and nothing else. */
export async function compare(world: World): Promise<void> {
  const { api, state, ids, highest, environment } = world;
  for (const kind of ['service', 'route'] as const) {
    const list = await api.call('GET', `${PATHS[kind]}?limit=200&environment=${environment}`);
    const shown = list.json.data ?? [];
    const ofKind = state.filter((one) => one.kind === kind);
    for (const resource of ofKind) {
      const same = shown.find(({ name }) => name === nameOf(resource));
      if (!ids.has(resource.id)) ids.set(resource.id, same?.id ?? '');
      highest.set(resource.id, Math.max(resource.revision, highest.get(resource.id) ?? 0));
    }
    const expected = ofKind.map(({ id, revision, settings }) => ({
      id: ids.get(id),
      revision,
      ...(kind === 'route' ? sentOf(world, settings) : shownService(settings)),
    }));
    expect(byId(shown.map((view) => settingsIn(kind, view)))).toEqual(byId(expected));
  }
}

function byId(resources: readonly Fields[]): readonly Fields[] {
  return resources.toSorted((a, b) => (String(a['id']) < String(b['id']) ? -1 : 1));
}

/** The settings of a service as a response has them. */
function shownService({ health_check: check, ...settings }: Fields): Fields {
  const health_check = { ...(check as Fields), path: settings['health_path'] };
  return withoutSecrets({ ...settings, health_check });
}

/** A response without what only it has. */
function settingsIn(kind: Kind, view: Fields): Fields {
  const { created_at: _created, updated_at: _updated, environment: _in, ...rest } = view;
  if (kind === 'route') return rest;
  const { status: _status, url: _url, upstreams, ...service } = rest;
  const listed = (upstreams as readonly Fields[]).map(({ id: _id, ...upstream }) => upstream);
  return withoutSecrets({ ...service, upstreams: listed });
}

/** Of secrets only what each answer shows. */
function withoutSecrets(service: Fields): Fields {
  const { credential, tls } = service as {
    readonly credential: Fields | null;
    readonly tls: Fields | null;
  };
  const certificate = tls?.['client_certificate'] as Fields | null | undefined;
  return {
    ...service,
    credential: credential && credential['type'],
    tls: tls && { ...tls, client_certificate: certificate?.['cert_pem'] ?? null },
  };
}

/** Each change has one entry in the outbox and one audit event, and the last entry has the row. */
export async function checkHistory({ api, environment }: World): Promise<void> {
  const { rows } = await sql<{ entries: number; events: number; wrong: number }>`
    WITH entries AS (
      SELECT entity_id, after FROM config_outbox
      WHERE environment = ${environment} AND kind IN ('service', 'route')
    ), last AS (
      SELECT DISTINCT ON (entity_id) entity_id, after->>'revision' AS revision FROM config_outbox
      WHERE environment = ${environment} AND kind IN ('service', 'route')
      ORDER BY entity_id, id DESC
    ), present AS (
      SELECT id, revision FROM services WHERE environment = ${environment}
      UNION ALL SELECT id, revision FROM routes WHERE environment = ${environment}
    )
    SELECT (SELECT count(*)::int FROM entries) AS entries,
      (SELECT count(*)::int FROM audit_events
        WHERE environments = ${[environment]}::text[] AND resource_type IN ('service', 'route')) AS events,
      (SELECT count(*)::int FROM last FULL JOIN present ON id = entity_id
        WHERE last.revision IS DISTINCT FROM present.revision::text) AS wrong
  `.execute(api.db);
  const [{ entries, events, wrong } = { entries: -1, events: 0, wrong: 0 }] = rows;
  expect({ events, wrong }).toEqual({ events: entries, wrong: 0 });
}

/** An export has all that an apply needs. */
export async function applyExport({ api, environment }: World): Promise<void> {
  const path = `/v1/environments/${environment}`;
  const { json } = await api.call('GET', `${path}/export`);
  const body = { ...(json.data as object), prune: true };
  const again = await api.call('POST', `${path}/apply`, { body });
  expect([again.status, again.json.data?.['changes']]).toEqual([200, []]);
}
