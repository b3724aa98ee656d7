import { SecretUnreadableError, type SealedSecret } from '@gateway/shared/secrets/secret-vault';
import type { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import { resealCredential } from '../../domain/service-credential.ts';
import type { Database } from '../database.ts';
import {
  countSealed,
  resealServices,
  type ResealBatch,
  type SealedColumn,
  type SealedColumns,
} from './reseal-services.ts';

/** Small, so that no row is locked for long, and no data plane has many to open at once. */
const BATCH_SERVICES = 100;

export interface UnreadableSecret {
  readonly serviceId: string;
  /** Names the key, and nothing of the secret. */
  readonly why: string;
}

export interface Reencryption {
  readonly resealed: number;
  readonly unreadable: readonly UnreadableSecret[];
  /** When all was done: secrets under the newest key, and under others. */
  readonly underNewest: number;
  readonly underOthers: number;
}

/**
 * Seals every credential anew under the newest master key while the gateway serves. Each batch is a
 * transaction of its own, so one that breaks off is taken up where it ended by running it again. What
 * cannot be opened stays as it is and is told; the others are done all the same.
 */
export function reencryptCredentials(
  db: Database,
  vault: CredentialVault,
  batchServices = BATCH_SERVICES,
): Promise<Reencryption> {
  const { newestKeyId } = vault;
  return reencrypt(db, { column: 'credential', newestKeyId, limit: batchServices }, (sealed, id) =>
    resealCredential(vault, sealed, id),
  );
}

/** Seals the private keys of client certificates anew, as `reencryptCredentials` does credentials. */
export function reencryptClientKeys(
  db: Database,
  vault: CredentialVault,
  batchServices = BATCH_SERVICES,
): Promise<Reencryption> {
  const { newestKeyId } = vault;
  const reseal = (sealed: SealedSecret, id: string) =>
    vault.sealClientKey(vault.openClientKey(sealed, id), id);
  return reencrypt(db, { column: 'client_key', newestKeyId, limit: batchServices }, reseal);
}

async function reencrypt<Column extends SealedColumn>(
  db: Database,
  options: { readonly column: Column; readonly newestKeyId: string; readonly limit: number },
  reseal: (sealed: SealedColumns[Column], serviceId: string) => SealedColumns[Column],
): Promise<Reencryption> {
  const unreadable: UnreadableSecret[] = [];
  const resealOrTell = (sealed: SealedColumns[Column], serviceId: string) => {
    try {
      return reseal(sealed, serviceId);
    } catch (error) {
      if (!(error instanceof SecretUnreadableError)) throw error;
      unreadable.push({ serviceId, why: error.message });
      return undefined;
    }
  };
  let resealed = 0;
  for (let after: string | undefined = ''; after !== undefined;) {
    const batch: ResealBatch = await resealServices(db, { ...options, after }, resealOrTell);
    resealed += batch.resealed;
    after = batch.lastId;
  }
  const { under, others } = await countSealed(db, options.column, options.newestKeyId);
  return { resealed, unreadable, underNewest: under, underOthers: others };
}
