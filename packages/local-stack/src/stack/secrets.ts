import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { errorCode } from '@gateway/tools/process/errors';

/** Reads a secret from a file, or creates both. */
async function storedSecret(file: string, make: () => string): Promise<string> {
  try {
    const kept = (await readFile(file, 'utf8')).trim();
    if (kept !== '') return kept;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  const secret = make();
  // Renamed when it is complete, so that an interrupted start leaves no incomplete secret.
  await writeFile(`${file}.new`, `${secret}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return secret;
}

export interface StackSecrets {
  readonly adminToken: string;
  /** In the format of GATEWAY_MASTER_KEYS. */
  readonly masterKeys: string;
}

/** Where the data folder has the secret of the admin token. */
export const adminTokenFile = (dataDir: string): string => path.join(dataDir, 'admin-token');

/** The secrets of the environment variables, or those of the data folder, which are created once with mode 0600. */
export async function loadSecrets(
  dataDir: string,
  given: { adminToken: string | undefined; masterKeys: string | undefined },
): Promise<StackSecrets> {
  const newKeys = (): string => `k1:${randomBytes(32).toString('base64')}`;
  return {
    adminToken:
      given.adminToken ?? (await storedSecret(adminTokenFile(dataDir), createTokenSecret)),
    masterKeys:
      given.masterKeys ?? (await storedSecret(path.join(dataDir, 'master-keys'), newKeys)),
  };
}
