import { sql } from 'kysely';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { TokenReach } from '@gateway/shared/tokens/scopes';
import type { ChangeOrigin } from '../../changes/store/change-origin.ts';
import {
  storedView,
  type StoredRoute,
  type StoredRow,
  type StoredService,
} from '../config-history.ts';
import {
  planRollBack,
  type Deviation,
  type KnowsKey,
  type LostSecret,
  type RollBackPlan,
} from '../roll-back.ts';
import { countsOf, type RollBackPlans } from '../roll-back-view.ts';
import { readConsistently } from './configuration-rows.ts';
import { filledRow, findVersion, settings, wholeRow } from './config-history.ts';
import type { Database } from '../../store/database.ts';
import {
  changeConfiguration,
  startEvent,
  type ChangeEvent,
  type RecordedChange,
} from '../../changes/store/record-change.ts';
import { requireUnnamed } from '../../access/store/tokens-of-routes.ts';
import { setTemporaryNames, removeRows, writeRows, type RestoredKind } from './restore-rows.ts';
import { lockVersionState, readVersionState, type VersionState } from './version-state.ts';

export interface RollBackOptions {
  readonly environment: string;
  readonly version: number;
  /** Whether the caller may know of versions of deleted environments that had the name before. */
  readonly mayReadFormer: boolean;
  readonly origin: ChangeOrigin;
  /** Whom an error may name tokens to. */
  readonly caller: TokenReach;
  readonly knowsKey: KnowsKey;
  /** Throws if the roll-back must not start from this state. It runs in the transaction of the roll-back. */
  readonly requireState: (state: VersionState) => void;
}

/** A service or a route that differs. */
type KindDeviation =
  | ({ readonly kind: 'service' } & Deviation<StoredService>)
  | ({ readonly kind: 'route' } & Deviation<StoredRoute>);

/** What a rollback changes, and the names of the services of the environment by their ids. */
export interface RollBackResult {
  readonly plans: RollBackPlans;
  readonly serviceNames: ReadonlyMap<string, string>;
}

/** The largest number of services that the error names. */
const SHOWN_SERVICES = 10;

/**
 * Restores the services and routes of an environment to a version, in one transaction that excludes all
 * other changes; tokens stay unchanged. A version was published as a whole, so it is consistent with the
 * rows that did not change since. The order of the writes satisfies every constraint.
 *
 * @throws GatewayError environment_not_found, config_version_not_found, config_version_not_restorable, in_use if tokens
 * name a route that would get another name, and what `requireState` throws
 */
export function rollBack(db: Database, options: RollBackOptions): Promise<RollBackResult> {
  const { environment, version, origin } = options;
  return changeConfiguration(db, origin, 'rollback', async (transaction) => {
    const state = await lockVersionState(transaction, environment);
    const deviations = await deviationsOf(transaction, state, options);
    const event = startEvent(origin, lastChanged(deviations));
    const result = await plannedFrom(transaction, deviations, event.at, options);
    if (deviations.length === 0) return { result, changes: [] };
    const restored = await restore(transaction, result.plans);
    const { service, route } = result.plans;
    const counts = { services: countsOf(service), routes: countsOf(route) };
    const summary: RecordedChange = {
      action: 'environment.rolled_back',
      resourceId: environment,
      environments: [environment],
      audited: {
        event,
        before: { version: state.config_version },
        after: { restored_version: version, ...counts },
      },
    };
    const changes = restored.map((one) => changeOf(one, newEventId(event), version));
    return { result, changes: [...changes, summary] };
  });
}

/** The present names of the routes that would get another one. */
function renamedFrom({ update, renamed }: RollBackPlan): readonly string[] {
  const ids = new Set(renamed);
  return update.filter(({ after }) => ids.has(after.id)).map(({ before }) => before.name);
}

/** Plans a rollback at this time without making it. @throws as `rollBack` */
export function planRollBackOnly(
  db: Database,
  options: Omit<RollBackOptions, 'origin'>,
  at: Date,
): Promise<RollBackResult> {
  return readConsistently(db, async (transaction) => {
    const state = await readVersionState(transaction, options.environment);
    const deviations = await deviationsOf(transaction, state, options);
    return plannedFrom(transaction, deviations, at, options);
  });
}

type Target = Omit<RollBackOptions, 'origin'>;

/** What differs from the version, if a rollback to it may start from this state. */
async function deviationsOf(
  transaction: Database,
  state: VersionState,
  { environment, version, mayReadFormer, requireState }: Target,
): Promise<readonly KindDeviation[]> {
  requireState(state);
  const found = await findVersion(transaction, { environment, version, withFormer: mayReadFormer });
  if (found.former) throw ofFormer(environment, version);
  return readDeviations(transaction, environment, version);
}

async function plannedFrom(
  transaction: Database,
  deviations: readonly KindDeviation[],
  at: Date,
  { environment, caller, knowsKey }: Target,
): Promise<RollBackResult> {
  const services = deviations.flatMap((one) => (one.kind === 'service' ? [one] : []));
  const routes = deviations.flatMap((one) => (one.kind === 'route' ? [one] : []));
  const service = planRollBack(services, at, knowsKey);
  const route = planRollBack(routes, at, knowsKey);
  if (service.lost.length > 0) throw secretsLost(service.lost);
  await requireUnnamed(transaction, environment, renamedFrom(route.plan), 'version', caller);
  const { rows } = await sql<{ id: string; name: string }>`
    SELECT id, name FROM services WHERE environment = ${environment}
  `.execute(transaction);
  const restored = service.plan.create.map(({ id, name }) => [id, name] as const);
  return {
    plans: { service: service.plan, route: route.plan },
    serviceNames: new Map([...rows.map(({ id, name }) => [id, name] as const), ...restored]),
  };
}

/** The latest change of the rows; undefined if none exists. */
function lastChanged(deviations: readonly KindDeviation[]): { updated_at: Date } | undefined {
  const times = deviations.flatMap(({ current }) =>
    current === null ? [] : [Date.parse(current.updated_at)],
  );
  return times.length === 0 ? undefined : { updated_at: new Date(Math.max(...times)) };
}

/** Another event at the same time. */
export function newEventId(event: ChangeEvent): ChangeEvent {
  return { ...event, id: event.origin.newEventId(event.at.getTime()) };
}

interface RestoredChange {
  readonly kind: RestoredKind;
  readonly action: 'created' | 'updated' | 'deleted';
  readonly before: StoredRow | null;
  readonly after: StoredRow | null;
}

/** Writes in an order in which every referenced service exists and no name is used twice. */
export async function restore(
  transaction: Database,
  plans: Readonly<Record<RestoredKind, RollBackPlan>>,
): Promise<readonly RestoredChange[]> {
  const { service, route } = plans;
  const idsOf = (rows: readonly StoredRow[]) => rows.map(({ id }) => id);
  await removeRows(transaction, 'route', idsOf(route.remove));
  await setTemporaryNames(transaction, 'service', [...service.renamed, ...idsOf(service.remove)]);
  const services = await write(transaction, 'service', service);
  await setTemporaryNames(transaction, 'route', route.renamed);
  const routes = await write(transaction, 'route', route);
  await removeRows(transaction, 'service', idsOf(service.remove));
  return [...services, ...routes, ...removed('service', service), ...removed('route', route)];
}

async function write(
  transaction: Database,
  kind: RestoredKind,
  { create, update }: RollBackPlan,
): Promise<readonly RestoredChange[]> {
  const before = new Map(update.map((one) => [one.after.id, one.before]));
  const wanted = update.map(({ after }) => after);
  const updated = await writeRows(transaction, kind, 'update', wanted);
  const created = await writeRows(transaction, kind, 'create', create);
  return [
    ...updated.map((after): RestoredChange => {
      return { kind, action: 'updated', before: before.get(after.id) ?? null, after };
    }),
    ...created.map((after): RestoredChange => ({ kind, action: 'created', before: null, after })),
  ];
}

function removed(kind: RestoredKind, plan: RollBackPlan): readonly RestoredChange[] {
  return plan.remove.map((before) => ({ kind, action: 'deleted', before, after: null }));
}

/** The change of a row that `restore` has written. */
export function changeOf(
  restored: RestoredChange,
  event: ChangeEvent,
  restoredVersion?: number,
): RecordedChange {
  const { kind, action, before, after } = restored;
  const rows = [before, after].filter((row) => row !== null);
  return {
    action: `${kind}.${action}`,
    resourceId: rows[0]?.id ?? '',
    environments: rows.map((row) => row.environment),
    ...(kind === 'route' && { routes: rows.map((row) => row.name) }),
    published: { kind, before, after, ...(restoredVersion !== undefined && { restoredVersion }) },
    audited: {
      event,
      before: before && storedView(kind, before),
      after: after && storedView(kind, after),
    },
  };
}

/** Its services are another owner's. */
function ofFormer(environment: string, version: number): GatewayError {
  return new GatewayError(
    'config_version_not_restorable',
    `Version ${version} is of a deleted environment that was named ${environment} before; it cannot be restored here.`,
  );
}

function secretsLost(lost: readonly LostSecret[]): GatewayError {
  const named = lost.slice(0, SHOWN_SERVICES).map(({ service, keyId }) => `${service} (${keyId})`);
  const more = lost.length > SHOWN_SERVICES ? ' and more' : '';
  return new GatewayError(
    'config_version_not_restorable',
    `The version has secrets of services that are encrypted with an unknown master key: ${named.join(', ')}${more}.`,
  );
}

/** The services and routes that changed since the version, published or not, and differ from it. */
async function readDeviations(
  transaction: Database,
  environment: string,
  version: number,
): Promise<readonly KindDeviation[]> {
  const { rows } = await sql<KindDeviation>`
    WITH since AS (
      SELECT kind, entity_id AS id, (array_agg(before ORDER BY config_outbox.id))[1] AS before,
        max(greatest((before->>'revision')::int, (after->>'revision')::int)) AS revision
      FROM config_outbox
      WHERE environment = ${environment} AND kind IN ('service', 'route')
        AND id >= (SELECT first_change FROM environments WHERE name = ${environment})
        AND (published_version IS NULL OR published_version > ${version}::bigint)
      GROUP BY kind, entity_id
    ), beside AS (
      SELECT since.kind, since.id, since.revision, ${filledRow(sql.ref('before'))} AS target,
        ${wholeRow('before')} AS whole,
        coalesce(to_jsonb(services), to_jsonb(routes)) AS current
      FROM since
      LEFT JOIN services ON kind = 'service' AND services.id = since.id
      LEFT JOIN routes ON kind = 'route' AND routes.id = since.id
    )
    SELECT kind, id, revision, target, current FROM beside
    WHERE ${settings(sql.ref('whole'))} IS DISTINCT FROM ${settings(filledRow(sql.ref('current')))}
    ORDER BY kind, id
  `.execute(transaction);
  return rows;
}
