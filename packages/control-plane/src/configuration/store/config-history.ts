import { sql, type RawBuilder } from 'kysely';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { SHOWN_RESOURCES, storedDefaults, type ConfigVersion } from '../config-history.ts';
import type { Route } from '../../routes/route.ts';
import type { Service } from '../../services/service.ts';
import { MAX_PAGE_BYTES, readWithinBytes, type BoundedRows } from '../../store/bounded-rows.ts';
import type { Database } from '../../store/database.ts';

/** The largest number of tokens in `changed_by`. */
const SHOWN_TOKENS = 50;
/** The largest number of changes that are read for `changed_resources`; a version of an apply may have thousands. */
const READ_CHANGES = 50;

export interface VersionFilter {
  readonly environment: string;
  /** Also versions of deleted environments that had the name before. */
  readonly withFormer: boolean;
  /** Only this version. */
  readonly version?: number | undefined;
  /** Only versions before this one. */
  readonly before?: number | undefined;
  /** Of `changed_resources`: only routes of these names; undefined: all. */
  readonly routes?: readonly string[] | undefined;
  readonly limit: number;
}

/**
 * Whether a version is of the environment that has the name now. The version that published its creation may also have
 * the last changes of the one before, which are not its own.
 */
const IS_OWN = sql`coalesce(version >= present.first_version, false)`;

/** The stored versions of an environment's configuration, newest first. */
export async function listVersions(
  db: Database,
  { environment, withFormer, version, before, routes, limit }: VersionFilter,
): Promise<readonly ConfigVersion[]> {
  const one = version === undefined ? sql`` : sql`AND version = ${version}::bigint`;
  const after = before === undefined ? sql`` : sql`AND version < ${before}::bigint`;
  const own = withFormer ? sql`` : sql`AND ${IS_OWN}`;
  const { rows } = await sql<ConfigVersion>`
    SELECT environment, version::float8 AS version, published_at, why, made.changes,
      coalesce(made.changed_by, '{}') AS changed_by, made.restored_version,
      ${changedResources(routes)} AS changed_resources,
      version = present.config_version AND ${IS_OWN} AS current, NOT ${IS_OWN} AS former
    FROM config_versions JOIN environments AS present ON present.name = environment, LATERAL (
      SELECT count(*)::int AS changes,
        (array_agg(DISTINCT token_id) FILTER (WHERE token_id IS NOT NULL))[1:${sql.lit(SHOWN_TOKENS)}]
          AS changed_by,
        (array_agg(restored_version ORDER BY id DESC) FILTER (WHERE restored_version IS NOT NULL))[1]::float8
          AS restored_version
      FROM config_outbox
      WHERE environment = config_versions.environment
        AND published_version = config_versions.version AND (id >= present.first_change) = ${IS_OWN}
    ) AS made
    WHERE environment = ${environment} ${one} ${after} ${own}
    ORDER BY version DESC LIMIT ${limit}
  `.execute(db);
  return rows;
}

/**
 * The services and routes that a version of `config_versions` changed, each with the names of its fields that differ:
 * those of its first changes.
 */
function changedResources(routes: readonly string[] | undefined): RawBuilder<unknown> {
  const [old, present] = [settings(sql.ref('before')), settings(sql.ref('after'))];
  return sql`(
    WITH first AS (
      SELECT id, kind, entity_id, before, after FROM config_outbox
      WHERE environment = config_versions.environment AND kind IN ('service', 'route')
        AND published_version = config_versions.version AND (id >= present.first_change) = ${IS_OWN}
      ORDER BY id LIMIT ${sql.lit(READ_CHANGES)}
    ), changed AS (
      SELECT min(id) AS at, kind, entity_id, (array_agg(before ORDER BY id))[1] AS before,
        (array_agg(after ORDER BY id DESC))[1] AS after
      FROM first GROUP BY kind, entity_id
    ), whole AS (
      SELECT at, kind, entity_id, ${wholeRow('before')} AS before, ${wholeRow('after')} AS after
      FROM changed
    ), shown AS (
      SELECT at, jsonb_build_object(
        'resource_type', kind, 'resource_id', entity_id, 'name', coalesce(after, before)->>'name',
        'change', CASE WHEN before IS NULL THEN 'added' WHEN after IS NULL THEN 'removed' ELSE 'changed' END,
        'fields', coalesce((
          SELECT jsonb_agg(field ORDER BY field) FROM jsonb_object_keys(${present}) AS field
          WHERE before IS NOT NULL AND ${old}->field IS DISTINCT FROM ${present}->field
        ), '[]')) AS resource
      FROM whole
      WHERE ${old} IS DISTINCT FROM ${present} ${coveredBy(routes)}
      ORDER BY at LIMIT ${sql.lit(SHOWN_RESOURCES)}
    )
    SELECT coalesce(jsonb_agg(resource ORDER BY at), '[]') FROM shown
  )`;
}

/** Keeps services, and routes whose names before and after are among these. */
function coveredBy(routes: readonly string[] | undefined): RawBuilder<unknown> {
  if (routes === undefined) return sql``;
  return sql`AND (kind = 'service' OR (
    coalesce(before->>'name' = ANY(${routes}::text[]), true)
    AND coalesce(after->>'name' = ANY(${routes}::text[]), true)))`;
}

/** @throws GatewayError config_version_not_found */
export async function findVersion(
  db: Database,
  {
    environment,
    version,
    withFormer,
    routes,
  }: Pick<VersionFilter, 'environment' | 'withFormer' | 'routes'> & {
    readonly version: number;
  },
): Promise<ConfigVersion> {
  const [found] = await listVersions(db, { environment, version, withFormer, routes, limit: 1 });
  if (found !== undefined) return found;
  const { rows } = await sql<{ oldest: number | null }>`
    SELECT min(version)::float8 AS oldest
    FROM config_versions JOIN environments AS present ON present.name = environment
    WHERE environment = ${environment} ${withFormer ? sql`` : sql`AND ${IS_OWN}`}
  `.execute(db);
  const oldest = rows[0]?.oldest ?? null;
  const kept = oldest === null ? 'has no version yet' : `begins with version ${oldest}`;
  throw new GatewayError(
    'config_version_not_found',
    `There is no version ${version}. The history of ${environment} ${kept}.`,
  );
}

/** A service or a route at two versions; null if it did not exist. */
export interface Difference {
  readonly kind: 'service' | 'route';
  readonly entity_id: string;
  readonly before: Service | Route | null;
  readonly after: Service | Route | null;
}

export interface DifferenceFilter {
  readonly environment: string;
  /** The older version. */
  readonly from: number;
  readonly to: number;
  /** Only routes of these names, at both versions; undefined: all. */
  readonly routes: readonly string[] | undefined;
  readonly after: { readonly kind: string; readonly id: string } | undefined;
  readonly limit: number;
}

/**
 * The services and routes that differ between two versions, by kind and id. The first change after `from`
 * has the row before, the last change up to `to` the row after. The cost depends on the changes between.
 */
export function listDifferences(
  db: Database,
  filter: DifferenceFilter,
): Promise<BoundedRows<Difference>> {
  const { environment, from, to, routes, after } = filter;
  const following =
    after === undefined ? sql`` : sql`AND (kind, entity_id) > (${after.kind}, ${after.id})`;
  const select = sql`
    WITH changed AS (
      SELECT kind, entity_id, (array_agg(before ORDER BY id))[1] AS before,
        (array_agg(after ORDER BY id DESC))[1] AS after
      FROM config_outbox
      WHERE environment = ${environment} AND kind IN ('service', 'route')
        AND published_version > ${from}::bigint AND published_version <= ${to}::bigint ${following}
      GROUP BY kind, entity_id
    ), whole AS (
      SELECT kind, entity_id, ${wholeRow('before')} AS before, ${wholeRow('after')} AS after FROM changed
    )
    SELECT * FROM whole
    WHERE ${settings(sql.ref('before'))} IS DISTINCT FROM ${settings(sql.ref('after'))} ${coveredBy(routes)}
    ORDER BY kind, entity_id LIMIT ${filter.limit}
  `;
  return readWithinBytes(db, select, {
    order: sql`kind, entity_id`,
    bytes: sql`coalesce(octet_length(before::text), 0) + coalesce(octet_length(after::text), 0)`,
    maxBytes: MAX_PAGE_BYTES,
  });
}

/**
 * A stored row with every present column of its table, and with times as Postgres writes them. A setting that did not
 * exist when the row was stored has its default.
 */
export function wholeRow(column: 'before' | 'after'): RawBuilder<unknown> {
  const stored = filledRow(sql.ref(column));
  return sql`CASE WHEN ${stored} IS NULL THEN NULL
    WHEN kind = 'service' THEN to_jsonb(jsonb_populate_record(null::services, ${stored}))
    ELSE to_jsonb(jsonb_populate_record(null::routes, ${stored})) END`;
}

/** A row of a service or a route, by `kind`, with the default of each setting that did not exist when it was stored. */
export function filledRow(row: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`CASE kind WHEN 'service' THEN ${filled('service', row)} ELSE ${filled('route', row)} END`;
}

/** As `storedRow` does it. */
function filled(kind: 'service' | 'route', row: RawBuilder<unknown>): RawBuilder<unknown> {
  const { defaults, objects } = storedDefaults(kind);
  return sql`(${row} || (
    SELECT jsonb_object_agg(name, CASE
      WHEN coalesce(${row}->name, 'null') = 'null' THEN value
      WHEN name = ANY(${objects}::text[]) THEN value || (${row}->name)
      ELSE ${row}->name END)
    FROM jsonb_each(${JSON.stringify(defaults)}::jsonb) AS setting (name, value)
  ))`;
}

/**
 * The settings in a row. A secret that was encrypted again is unchanged, and so are upstreams that were replaced and came
 * back: their new ids are no setting.
 */
export function settings(row: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`((${row} - 'revision' - 'updated_at' - 'client_key'
    #- '{credential,sealed}' #- '{credential,key_id}')
    || CASE WHEN jsonb_typeof(${row}->'upstreams') = 'array' THEN jsonb_build_object('upstreams', (
      SELECT coalesce(jsonb_agg(upstream - 'id' ORDER BY at), '[]')
      FROM jsonb_array_elements(${row}->'upstreams') WITH ORDINALITY AS list (upstream, at)
    )) ELSE '{}' END)`;
}
