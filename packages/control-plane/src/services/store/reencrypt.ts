import { SecretUnreadableError, type SealedSecret } from '@gateway/shared/secrets/secret-vault';
import type { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import { reencryptCredential } from '../service-credential.ts';
import type { Database } from '../../store/database.ts';
import {
  countSealed,
  reencryptServices,
  type ReencryptedBatch,
  type SealedColumn,
  type SealedColumns,
} from './reencrypt-services.ts';

/** Small, so that rows are locked briefly and data planes have few secrets to decrypt at a time. */
const BATCH_SERVICES = 100;

export interface UnreadableSecret {
  readonly serviceId: string;
  /** Names the key, but no part of the secret. */
  readonly why: string;
}

export interface Reencryption {
  readonly reencrypted: number;
  readonly unreadable: readonly UnreadableSecret[];
  /** Secrets encrypted with the newest key, and with others, at the end. */
  readonly withNewest: number;
  readonly withOthers: number;
}

/**
 * Encrypts every credential with the newest master key while the gateway serves. Each batch is its own
 * transaction, so an interrupted run is continued by another one. Secrets that cannot be decrypted stay
 * unchanged and are reported.
 */
export function reencryptCredentials(
  db: Database,
  vault: CredentialVault,
  batchServices = BATCH_SERVICES,
): Promise<Reencryption> {
  const { newestKeyId } = vault;
  return reencryptColumn(
    db,
    { column: 'credential', newestKeyId, limit: batchServices },
    (sealed, id) => reencryptCredential(vault, sealed, id),
  );
}

/** As `reencryptCredentials`, for the private keys of client certificates. */
export function reencryptClientKeys(
  db: Database,
  vault: CredentialVault,
  batchServices = BATCH_SERVICES,
): Promise<Reencryption> {
  const { newestKeyId } = vault;
  const reencryptKey = (sealed: SealedSecret, id: string) =>
    vault.sealClientKey(vault.openClientKey(sealed, id), id);
  return reencryptColumn(
    db,
    { column: 'client_key', newestKeyId, limit: batchServices },
    reencryptKey,
  );
}

async function reencryptColumn<Column extends SealedColumn>(
  db: Database,
  options: { readonly column: Column; readonly newestKeyId: string; readonly limit: number },
  reencrypt: (sealed: SealedColumns[Column], serviceId: string) => SealedColumns[Column],
): Promise<Reencryption> {
  const unreadable: UnreadableSecret[] = [];
  const reencryptOrReport = (sealed: SealedColumns[Column], serviceId: string) => {
    try {
      return reencrypt(sealed, serviceId);
    } catch (error) {
      if (!(error instanceof SecretUnreadableError)) throw error;
      unreadable.push({ serviceId, why: error.message });
      return undefined;
    }
  };
  let reencrypted = 0;
  for (let after: string | undefined = ''; after !== undefined;) {
    const batch: ReencryptedBatch = await reencryptServices(
      db,
      { ...options, after },
      reencryptOrReport,
    );
    reencrypted += batch.reencrypted;
    after = batch.lastId;
  }
  const { withKey, withOthers } = await countSealed(db, options.column, options.newestKeyId);
  return { reencrypted, unreadable, withNewest: withKey, withOthers };
}
