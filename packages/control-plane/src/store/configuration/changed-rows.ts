import {
  atOneMoment,
  readPending,
  readVersion,
  selectRoutes,
  selectServices,
  selectTokens,
  type PendingChange,
  type RouteRow,
  type SelectRows,
  type ServiceRow,
  type TokenRow,
} from './configuration-rows.ts';
import type { Database } from '../database.ts';

/** What a delta is compiled of: the entities that were changed, and those of them that are there. */
export interface ChangedRows {
  readonly environment: string;
  readonly services: Changed<ServiceRow>;
  readonly routes: Changed<RouteRow>;
  readonly tokens: Changed<TokenRow>;
}

interface Changed<Row> {
  readonly ids: readonly string[];
  readonly rows: readonly Row[];
}

export interface ChangedConfiguration {
  /** The version that was last published; 0 before the first. */
  readonly configVersion: number;
  readonly pendingIds: readonly string[];
  /** undefined: they are too many, or some change does not say what it was made to. */
  readonly changed: ChangedRows | undefined;
}

/**
 * Reads which changes wait to be published and the rows that they were made to, as they stood at one
 * moment. What it costs depends on the changes alone, not on the size of the environment.
 *
 * @returns undefined where there is no such environment.
 */
export function readChangedRows(
  db: Database,
  environment: string,
  maxChanges: number,
): Promise<ChangedConfiguration | undefined> {
  return atOneMoment(db, async (transaction) => {
    const configVersion = await readVersion(transaction, environment);
    if (configVersion === undefined) return undefined;
    const pending = await readPending(transaction, environment);
    const pendingIds = pending.map(({ id }) => id);
    if (pending.length > maxChanges || !pending.every(isOfOneEntity)) {
      return { configVersion, pendingIds, changed: undefined };
    }
    const read = async <Row>(kind: PendingChange['kind'], select: SelectRows<Row>) => {
      const ids = [...new Set(pending.filter((one) => one.kind === kind).map(entityIdOf))];
      return { ids, rows: ids.length === 0 ? [] : await select(transaction, { environment, ids }) };
    };
    return {
      ...{ configVersion, pendingIds },
      changed: {
        environment,
        services: await read('service', selectServices),
        routes: await read('route', selectRoutes),
        tokens: await read('token', selectTokens),
      },
    };
  });
}

function isOfOneEntity({ kind, entityId }: PendingChange): boolean {
  return kind !== null && kind !== 'all' && kind !== 'environment' && entityId !== null;
}

function entityIdOf({ entityId }: PendingChange): string {
  return entityId ?? '';
}
