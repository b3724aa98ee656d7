import { SecretUnreadableError } from '@gateway/shared/secrets/secret-vault';
import type { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import { resealCredential } from '../domain/service-credential.ts';
import type { Database } from '../store/database.ts';
import { countSealed, resealServices, type SealedService } from '../store/reseal-services.ts';

/** Small, so that no row is locked for long, and no data plane has many to open at once. */
const BATCH_SERVICES = 100;

export interface UnreadableCredential {
  readonly serviceId: string;
  /** Names the key, and nothing of the credential. */
  readonly why: string;
}

export interface Reencryption {
  readonly resealed: number;
  readonly unreadable: readonly UnreadableCredential[];
  /** When all was done: credentials under the newest key, and under others. */
  readonly underNewest: number;
  readonly underOthers: number;
}

/**
 * Seals every credential anew under the newest master key while the gateway serves. Each batch is a
 * transaction of its own, so one that breaks off is taken up where it ended by running it again. What
 * cannot be opened stays as it is and is told; the others are done all the same.
 */
export async function reencryptCredentials(
  db: Database,
  vault: CredentialVault,
  batchServices = BATCH_SERVICES,
): Promise<Reencryption> {
  const unreadable: UnreadableCredential[] = [];
  const reseal = ({ id, credential }: SealedService) => {
    try {
      return resealCredential(vault, credential, id);
    } catch (error) {
      if (!(error instanceof SecretUnreadableError)) throw error;
      unreadable.push({ serviceId: id, why: error.message });
      return undefined;
    }
  };
  const { newestKeyId } = vault;
  let resealed = 0;
  for (let after: string | undefined = ''; after !== undefined;) {
    const options = { newestKeyId, after, limit: batchServices };
    const batch = await resealServices(db, options, reseal);
    resealed += batch.resealed;
    after = batch.lastId;
  }
  const { under, others } = await countSealed(db, newestKeyId);
  return { resealed, unreadable, underNewest: under, underOthers: others };
}
