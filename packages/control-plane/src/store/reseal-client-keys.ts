import type { SealedSecret } from '@gateway/shared/secrets/secret-vault';
import type { Database } from './database.ts';
import { lockConfiguration, NOBODY, noteChange } from './outbox.ts';
import type { ResealBatch, ResealOptions } from './reseal-services.ts';

export interface SealedClientKey {
  readonly serviceId: string;
  readonly key: SealedSecret;
}

/**
 * Seals the private keys of client certificates of the next services anew: see `resealServices`.
 *
 * @param reseal undefined leaves a key as it is
 */
export function resealClientKeys(
  db: Database,
  options: ResealOptions,
  reseal: (sealed: SealedClientKey) => SealedSecret | undefined,
): Promise<ResealBatch> {
  return db.transaction().execute(async (transaction) => {
    await lockConfiguration(transaction, 'shared');
    const rows = await transaction
      .selectFrom('services')
      .selectAll()
      .where('client_key', 'is not', null)
      .where((eb) => eb(eb.ref('client_key', '->>').key('key_id'), '<>', options.newestKeyId))
      .where('id', '>', options.after)
      .orderBy('id')
      .limit(options.limit)
      .forNoKeyUpdate()
      .execute();
    let resealed = 0;
    for (const before of rows) {
      const { id, client_key: key } = before;
      const next = key === null ? undefined : reseal({ serviceId: id, key });
      if (next === undefined) continue;
      const after = await transaction
        .updateTable('services')
        .set({ client_key: JSON.stringify(next) })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow();
      await noteChange(transaction, NOBODY, 'resealed', { kind: 'service', before, after });
      resealed += 1;
    }
    return { seen: rows.length, resealed, lastId: rows.at(-1)?.id };
  });
}

/** How many services have a client key under another master key than this one. */
export async function countClientKeysUnderOthers(db: Database, keyId: string): Promise<number> {
  const { others } = await db
    .selectFrom('services')
    .select((eb) => eb.fn.countAll<number>().as('others'))
    .where('client_key', 'is not', null)
    .where((eb) => eb(eb.ref('client_key', '->>').key('key_id'), '<>', keyId))
    .executeTakeFirstOrThrow();
  return others;
}
