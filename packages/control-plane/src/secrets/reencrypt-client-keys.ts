import { SecretUnreadableError } from '@gateway/shared/secrets/secret-vault';
import type { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import type { Database } from '../store/database.ts';
import {
  countClientKeysUnderOthers,
  resealClientKeys,
  type SealedClientKey,
} from '../store/reseal-client-keys.ts';
import type { UnreadableCredential } from './reencrypt-credentials.ts';

const BATCH_SERVICES = 100;

export interface ClientKeyReencryption {
  readonly resealed: number;
  readonly unreadable: readonly UnreadableCredential[];
  readonly underOthers: number;
}

/** Seals the private keys of client certificates anew, as `reencryptCredentials` does credentials. */
export async function reencryptClientKeys(
  db: Database,
  vault: CredentialVault,
  batchServices = BATCH_SERVICES,
): Promise<ClientKeyReencryption> {
  const unreadable: UnreadableCredential[] = [];
  const reseal = ({ serviceId, key }: SealedClientKey) => {
    try {
      return vault.sealClientKey(vault.openClientKey(key, serviceId), serviceId);
    } catch (error) {
      if (!(error instanceof SecretUnreadableError)) throw error;
      unreadable.push({ serviceId, why: error.message });
      return undefined;
    }
  };
  const { newestKeyId } = vault;
  let resealed = 0;
  for (let after: string | undefined = ''; after !== undefined;) {
    const batch = await resealClientKeys(db, { newestKeyId, after, limit: batchServices }, reseal);
    resealed += batch.resealed;
    after = batch.lastId;
  }
  return { resealed, unreadable, underOthers: await countClientKeysUnderOthers(db, newestKeyId) };
}
