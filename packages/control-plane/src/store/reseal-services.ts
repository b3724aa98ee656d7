import type { StoredCredential } from '../domain/service-credential.ts';
import type { Database } from './database.ts';
import { lockConfiguration, NOBODY, noteChange } from './outbox.ts';

export interface SealedService {
  readonly id: string;
  readonly environment: string;
  readonly credential: StoredCredential;
}

export interface ResealBatch {
  /** Services that were looked at; none: there are no more. */
  readonly seen: number;
  readonly resealed: number;
  /** The last one that was looked at. */
  readonly lastId: string | undefined;
}

export interface ResealOptions {
  /** Those sealed under another key are taken. */
  readonly newestKeyId: string;
  /** The last one of the batch before. */
  readonly after: string;
  readonly limit: number;
}

/**
 * Seals the credentials of the next services anew, in one transaction with the news of it. The rows are
 * locked meanwhile, so that no change of a service is lost; routes to it may be made. What an operator
 * sees of a service does not change, so its revision and times stay.
 *
 * @param reseal undefined leaves a service as it is
 */
export function resealServices(
  db: Database,
  options: ResealOptions,
  reseal: (service: SealedService) => StoredCredential | undefined,
): Promise<ResealBatch> {
  return db.transaction().execute(async (transaction) => {
    await lockConfiguration(transaction, 'shared');
    const rows = await transaction
      .selectFrom('services')
      .selectAll()
      .where('credential', 'is not', null)
      .where((eb) => eb(eb.ref('credential', '->>').key('key_id'), '<>', options.newestKeyId))
      .where('id', '>', options.after)
      .orderBy('id')
      .limit(options.limit)
      .forNoKeyUpdate()
      .execute();
    let resealed = 0;
    for (const before of rows) {
      const { id, environment, credential } = before;
      const next = credential === null ? undefined : reseal({ id, environment, credential });
      if (next === undefined) continue;
      const after = await transaction
        .updateTable('services')
        .set({ credential: JSON.stringify(next) })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow();
      await noteChange(transaction, NOBODY, 'resealed', { kind: 'service', before, after });
      resealed += 1;
    }
    return { seen: rows.length, resealed, lastId: rows.at(-1)?.id };
  });
}

/** How many services have a credential under the key, and how many under another. */
export function countSealed(
  db: Database,
  keyId: string,
): Promise<{ readonly under: number; readonly others: number }> {
  return db
    .selectFrom('services')
    .select((eb) => {
      const key = eb.ref('credential', '->>').key('key_id');
      return [
        eb.fn.countAll<number>().filterWhere(key, '=', keyId).as('under'),
        eb.fn.countAll<number>().filterWhere(key, '<>', keyId).as('others'),
      ];
    })
    .where('credential', 'is not', null)
    .executeTakeFirstOrThrow();
}
