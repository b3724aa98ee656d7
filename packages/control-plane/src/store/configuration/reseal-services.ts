import type { SealedSecret } from '@gateway/shared/secrets/secret-vault';
import type { ExpressionBuilder } from 'kysely';
import type { StoredCredential } from '../../domain/service-credential.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../tables.ts';
import { changeConfiguration, type RecordedChange } from './record-change.ts';

/** The columns of a service that hold a secret under a master key, which its `key_id` names. */
export interface SealedColumns {
  readonly credential: StoredCredential;
  readonly client_key: SealedSecret;
}

export type SealedColumn = keyof SealedColumns;

export interface ResealBatch {
  readonly resealed: number;
  /** The last one that was looked at. */
  readonly lastId: string | undefined;
}

export interface ResealOptions<Column extends SealedColumn> {
  readonly column: Column;
  /** Those sealed under another key are taken. */
  readonly newestKeyId: string;
  /** The last one of the batch before. */
  readonly after: string;
  readonly limit: number;
}

/**
 * Seals one secret of each of the next services anew, in one transaction with the news of it. The rows
 * are locked meanwhile, so that no change of a service is lost; routes to it may be made. What an operator
 * sees of a service does not change, so its revision and times stay.
 *
 * @param reseal undefined leaves a service as it is
 */
export function resealServices<Column extends SealedColumn>(
  db: Database,
  { column, newestKeyId, after, limit }: ResealOptions<Column>,
  reseal: (sealed: SealedColumns[Column], serviceId: string) => SealedColumns[Column] | undefined,
): Promise<ResealBatch> {
  return changeConfiguration(db, 'configuration', async (transaction) => {
    const rows = await transaction
      .selectFrom('services')
      .selectAll()
      .where(column, 'is not', null)
      .where((eb) => eb(keyIdIn(eb, column), '<>', newestKeyId))
      .where('id', '>', after)
      .orderBy('id')
      .limit(limit)
      .forNoKeyUpdate()
      .execute();
    const changes: RecordedChange[] = [];
    for (const before of rows) {
      const sealed = before[column] as SealedColumns[Column] | null;
      const next = sealed === null ? undefined : reseal(sealed, before.id);
      if (next === undefined) continue;
      const changed = await transaction
        .updateTable('services')
        .set({ [column]: JSON.stringify(next) })
        .where('id', '=', before.id)
        .returningAll()
        .executeTakeFirstOrThrow();
      changes.push({
        action: 'service.reencrypted',
        resourceId: before.id,
        environments: [before.environment],
        published: { kind: 'service', before, after: changed },
      });
    }
    const result = { resealed: changes.length, lastId: rows.at(-1)?.id };
    return { result, changes };
  });
}

/** How many services have such a secret under the key, and how many under another. */
export function countSealed(
  db: Database,
  column: SealedColumn,
  keyId: string,
): Promise<{ readonly under: number; readonly others: number }> {
  return db
    .selectFrom('services')
    .select((eb) => {
      const key = keyIdIn(eb, column);
      return [
        eb.fn.countAll<number>().filterWhere(key, '=', keyId).as('under'),
        eb.fn.countAll<number>().filterWhere(key, '<>', keyId).as('others'),
      ];
    })
    .where(column, 'is not', null)
    .executeTakeFirstOrThrow();
}

function keyIdIn(eb: ExpressionBuilder<Tables, 'services'>, column: SealedColumn) {
  return column === 'credential'
    ? eb.ref('credential', '->>').key('key_id')
    : eb.ref('client_key', '->>').key('key_id');
}
