import type { SealedSecret } from '@gateway/shared/secrets/secret-vault';
import type { ExpressionBuilder } from 'kysely';
import type { StoredCredential } from '../service-credential.ts';
import type { Database } from '../../store/database.ts';
import type { Tables } from '../../store/tables.ts';
import { changeConfiguration, type RecordedChange } from '../../changes/store/record-change.ts';

/** The columns of a service with a secret encrypted with the master key `key_id`. */
export interface SealedColumns {
  readonly credential: StoredCredential;
  readonly client_key: SealedSecret;
}

export type SealedColumn = keyof SealedColumns;

export interface ReencryptedBatch {
  readonly reencrypted: number;
  /** The last service of the batch. */
  readonly lastId: string | undefined;
}

export interface ReencryptOptions<Column extends SealedColumn> {
  readonly column: Column;
  /** Only secrets with another key are encrypted again. */
  readonly newestKeyId: string;
  /** The last service of the batch before. */
  readonly after: string;
  readonly limit: number;
}

/**
 * Encrypts one secret of each of the next services again, and publishes them, in one transaction. The rows
 * are locked meanwhile, so no change of a service is lost; routes to it can be created. The settings of a
 * service do not change, so its revision and times stay.
 *
 * @param reencrypt returns undefined to leave a service unchanged
 */
export function reencryptServices<Column extends SealedColumn>(
  db: Database,
  { column, newestKeyId, after, limit }: ReencryptOptions<Column>,
  reencrypt: (
    sealed: SealedColumns[Column],
    serviceId: string,
  ) => SealedColumns[Column] | undefined,
): Promise<ReencryptedBatch> {
  return changeConfiguration(db, { caller: null }, 'configuration', async (transaction) => {
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
      const next = sealed === null ? undefined : reencrypt(sealed, before.id);
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
    const result = { reencrypted: changes.length, lastId: rows.at(-1)?.id };
    return { result, changes };
  });
}

/** How many services have the secret encrypted with the key, and how many with another. */
export function countSealed(
  db: Database,
  column: SealedColumn,
  keyId: string,
): Promise<{ readonly withKey: number; readonly withOthers: number }> {
  return db
    .selectFrom('services')
    .select((eb) => {
      const key = keyIdIn(eb, column);
      return [
        eb.fn.countAll<number>().filterWhere(key, '=', keyId).as('withKey'),
        eb.fn.countAll<number>().filterWhere(key, '<>', keyId).as('withOthers'),
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
