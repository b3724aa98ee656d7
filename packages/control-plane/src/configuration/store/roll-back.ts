import { sql } from 'kysely';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { reservedUses } from '@gateway/shared/definitions/reserved-hosts';
import { settingsOf } from '../../routes/route.ts';
import type { Database } from '../../store/database.ts';
import { countsOf } from '../apply-view.ts';
import { planRollBack, type Deviation, type KnowsKey, type LostSecret } from '../roll-back.ts';
import type { RowChange } from '../row-change.ts';
import type { RowsChange } from './change-rows.ts';
import { filledRow, findVersion, settings, wholeRow } from './config-history.ts';
import { lockVersionState, readVersionState, type VersionState } from './version-state.ts';

export interface RollBackOptions {
  readonly environment: string;
  readonly version: number;
  /** Whether the caller may know of versions of deleted environments that had the name before. */
  readonly mayReadFormer: boolean;
  readonly knowsKey: KnowsKey;
  /** Hosts that no route may get. */
  readonly reservedHosts: readonly string[];
  /** Throws if the roll-back must not start from this state. It runs in the transaction of the roll-back. */
  readonly requireState: (state: VersionState) => void;
}

/** What a roll-back is planned from. */
export interface RollBackRead {
  readonly state: VersionState;
  readonly deviations: readonly Deviation[];
  readonly services: readonly { readonly id: string; readonly name: string }[];
}

/** The largest number of services that the error names. */
const SHOWN_SERVICES = 10;

/**
 * The change that restores the services and routes of an environment to a version; tokens stay unchanged. A version was
 * published as a whole, so it is consistent with the rows that did not change since.
 *
 * @throws in `read` and `plan`: GatewayError environment_not_found, config_version_not_found,
 *   config_version_not_restorable, and what `requireState` throws
 */
export function rollBackTo({
  environment,
  version,
  mayReadFormer,
  knowsKey,
  reservedHosts,
  requireState,
}: RollBackOptions): RowsChange<RollBackRead> {
  return {
    lock: 'configuration-exclusive',
    renamedBy: 'version',
    restoredVersion: version,
    async read(transaction, isDry) {
      const state = await (isDry ? readVersionState : lockVersionState)(transaction, environment);
      requireState(state);
      const wanted = { environment, version, withFormer: mayReadFormer };
      if ((await findVersion(transaction, wanted)).former) throw ofFormer(environment, version);
      const deviations = await readDeviations(transaction, environment, version);
      const { rows: services } = await sql<{ id: string; name: string }>`
        SELECT id, name FROM services WHERE environment = ${environment}
      `.execute(transaction);
      return { state, deviations, services };
    },
    plan({ deviations }) {
      const { changes, lost } = planRollBack(deviations, knowsKey);
      if (lost.length > 0) throw secretsLost(lost);
      requireUnreserved(changes, reservedHosts);
      return changes;
    },
    summary: ({ state }, changes: readonly RowChange[]) => ({
      action: 'environment.rolled_back',
      resourceId: environment,
      environments: [environment],
      before: { version: state.config_version },
      after: {
        restored_version: version,
        services: countsOf('service', changes),
        routes: countsOf('route', changes),
      },
    }),
  };
}

/** Its services are another owner's. */
function ofFormer(environment: string, version: number): GatewayError {
  return new GatewayError(
    'config_version_not_restorable',
    `Version ${version} is of a deleted environment that was named ${environment} before; it cannot be restored here.`,
  );
}

/** @throws GatewayError config_version_not_restorable if a route would get a host of the gateway itself */
function requireUnreserved(changes: readonly RowChange[], reserved: readonly string[]): void {
  for (const { kind, after } of changes) {
    if (kind !== 'route' || after === null) continue;
    const [use] = reservedUses(settingsOf(after).match, reserved);
    if (use === undefined) continue;
    throw new GatewayError(
      'config_version_not_restorable',
      `The route ${after.name} of the version cannot be restored: ${use.path.join('.')} ${use.message}.`,
    );
  }
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
): Promise<readonly Deviation[]> {
  const { rows } = await sql<Deviation>`
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
