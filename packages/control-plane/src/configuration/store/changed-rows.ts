import {
  readConsistently,
  readPending,
  readPublished,
  selectRoutes,
  selectServices,
  selectTokens,
  type PendingChange,
  type RouteRow,
  type SelectRows,
  type ServiceRow,
  type TokenRow,
} from './configuration-rows.ts';
import type { Database } from '../../store/database.ts';

/** The input of a delta: the ids of the changed entities, and the rows of those that still exist. */
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
  /** The published version; 0 before the first. */
  readonly configVersion: number;
  readonly pending: readonly PendingChange[];
  /** undefined: too many changes for a delta, or the environment itself is new. */
  readonly changed: ChangedRows | undefined;
}

/**
 * Reads the unpublished changes and the rows that they changed in one consistent read. The cost depends on
 * the changes, not on the size of the environment.
 *
 * @returns undefined if there is no such environment.
 */
export function readChangedRows(
  db: Database,
  environment: string,
  maxChanges: number,
): Promise<ChangedConfiguration | undefined> {
  return readConsistently(db, async (transaction) => {
    const published = await readPublished(transaction, environment);
    if (published === undefined) return undefined;
    const { configVersion } = published;
    const pending = await readPending(transaction, environment);
    if (pending.length > maxChanges || pending.some(({ kind }) => kind === 'environment')) {
      return { configVersion, pending, changed: undefined };
    }
    const read = async <Row>(kind: PendingChange['kind'], select: SelectRows<Row>) => {
      const ids = [
        ...new Set(pending.filter((one) => one.kind === kind).map((one) => one.entityId)),
      ];
      if (ids.length === 0) return { ids, rows: [] };
      const { rows } = await select({ environment, ids }).execute(transaction);
      return { ids, rows };
    };
    return {
      configVersion,
      pending,
      changed: {
        environment,
        services: await read('service', selectServices),
        routes: await read('route', selectRoutes),
        tokens: await read('token', selectTokens),
      },
    };
  });
}
