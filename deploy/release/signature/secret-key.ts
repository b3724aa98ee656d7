import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { publicKeyOf, writePublicKey } from './minisign.ts';

/** The variable with the passphrase of the secret key. */
export const PASSPHRASE = 'RELEASE_KEY_PASSPHRASE';
const MIN_PASSPHRASE_CHARACTERS = 12;
const OWNER_ONLY = 0o600;
const OWNER_ONLY_FOLDER = 0o700;

/**
 * Makes a key pair: the secret key as an encrypted PKCS #8 file that only its owner may read, the public key beside it as
 * `<file>.pub` in the format of minisign.
 *
 * @param file a new file outside of the repository
 * @returns the content of the public file
 * @throws Error if the file is inside of the repository or exists, or the passphrase is too short
 */
export async function makeSecretKey(
  file: string,
  passphrase: string,
  repository: string,
): Promise<string> {
  const fromRoot = path.relative(repository, path.resolve(file));
  if (!fromRoot.startsWith('..')) {
    throw new Error(`the secret key must be outside of the repository, not at ${fromRoot}`);
  }
  if (passphrase.length < MIN_PASSPHRASE_CHARACTERS) {
    throw new Error(`${PASSPHRASE} must have at least ${MIN_PASSPHRASE_CHARACTERS} characters`);
  }
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({
    format: 'pem',
    type: 'pkcs8',
    cipher: 'aes-256-cbc',
    passphrase,
  });
  const text = writePublicKey(publicKeyOf(privateKey));
  await mkdir(path.dirname(file), { recursive: true, mode: OWNER_ONLY_FOLDER });
  await writeFile(file, pem, { mode: OWNER_ONLY, flag: 'wx' });
  await writeFile(`${file}.pub`, text, { flag: 'wx' });
  return text;
}

/** @throws Error if the file is no secret key, or the passphrase is another one */
export async function readSecretKey(file: string, passphrase: string): Promise<KeyObject> {
  const pem = await readFile(file, 'utf8');
  try {
    return createPrivateKey({ key: pem, format: 'pem', passphrase });
  } catch (error) {
    throw new Error(`${file} cannot be read with ${PASSPHRASE}`, { cause: error });
  }
}
