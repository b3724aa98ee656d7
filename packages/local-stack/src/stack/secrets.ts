import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { errorCode } from '../process/error-code.ts';

async function keep(file: string, make: () => string): Promise<string> {
  try {
    const kept = (await readFile(file, 'utf8')).trim();
    if (kept !== '') return kept;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  const secret = make();
  // Whole or not at all, so that a start broken off leaves no half secret.
  await writeFile(`${file}.new`, `${secret}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return secret;
}

export interface StackSecrets {
  readonly adminToken: string;
  /** As GATEWAY_MASTER_KEYS has them. */
  readonly masterKeys: string;
}

/** The secrets of the environment, else those of the data folder, made once with mode 0600. */
export async function loadSecrets(
  dataDir: string,
  given: { adminToken: string | undefined; masterKeys: string | undefined },
): Promise<StackSecrets> {
  const newKeys = (): string => `k1:${randomBytes(32).toString('base64')}`;
  return {
    adminToken:
      given.adminToken ?? (await keep(path.join(dataDir, 'admin-token'), createTokenSecret)),
    masterKeys: given.masterKeys ?? (await keep(path.join(dataDir, 'master-keys'), newKeys)),
  };
}
