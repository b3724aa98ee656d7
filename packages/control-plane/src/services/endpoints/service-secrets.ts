import type { Clock } from '@gateway/shared/clock';
import { SecretUnreadableError } from '@gateway/shared/secrets/secret-vault';
import type { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import type { ServiceSecrets } from '../replace-service.ts';
import { isCredential, sealCredential } from '../service-credential.ts';
import { tlsOf } from '../service-tls.ts';

/** Encrypts the secrets of the service with this id, and compares given ones with the stored ones. */
export function secretsOf(
  vault: CredentialVault,
  clock: Pick<Clock, 'nowMs'>,
  serviceId: string,
): ServiceSecrets {
  const now = () => new Date(clock.nowMs());
  return {
    seal: (given) => sealCredential(vault, given, serviceId, now()),
    sealTls: (given, before) =>
      tlsOf(given, before, (keyPem) => vault.sealClientKey(keyPem, serviceId), now()),
    isCredential: (stored, given) =>
      readable(() => isCredential(vault.open(stored, serviceId), stored, given)),
    isClientKey: (stored, keyPem) =>
      stored !== null && readable(() => vault.openClientKey(stored, serviceId) === keyPem),
  };
}

/** A stored secret that cannot be decrypted equals no other; it is replaced. */
function readable(compare: () => boolean): boolean {
  try {
    return compare();
  } catch (error) {
    if (error instanceof SecretUnreadableError) return false;
    throw error;
  }
}
