import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CertificateFiles } from './key-pair.ts';

/** The files of a mounted Kubernetes secret of type `kubernetes.io/tls`, and of certbot's folder `live`. */
const LAYOUTS = [
  ['tls.crt', 'tls.key'],
  ['fullchain.pem', 'privkey.pem'],
] as const;
/** Authorities beside certificates: cert-manager and lego write them. */
const AUTHORITY = /(?:^ca|\.issuer)\.crt$/;
const PART = /^(.+)\.(?:crt|key)$/;
const MAX_FILE_BYTES = 256 * 1024;

/**
 * Finds the pairs of a folder: `NAME.crt` with `NAME.key`, and in a folder NAME either `tls.crt` with `tls.key` or
 * `fullchain.pem` with `privkey.pem`. A pair is listed if one of its files exists. Names that begin with a dot, empty
 * folders and other files are no pairs.
 *
 * @returns the files of each pair by its name, in order
 * @throws Error of one line if the folder cannot be read
 */
export async function listPairs(folder: string): Promise<ReadonlyMap<string, CertificateFiles>> {
  const pairs = new Map<string, CertificateFiles>();
  for (const name of await namesIn(folder)) {
    const [, stem] = AUTHORITY.test(name) ? [] : (PART.exec(name) ?? []);
    if (stem !== undefined) {
      const path = join(folder, stem);
      pairs.set(stem, { certFile: `${path}.crt`, keyFile: `${path}.key` });
    } else {
      const files = await filesIn(join(folder, name));
      if (files !== undefined) pairs.set(`${name}/`, files);
    }
  }
  return pairs;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => !name.startsWith('.')).toSorted();
  } catch (cause) {
    const { code = 'error' } = cause as NodeJS.ErrnoException;
    throw new Error(`${folder} cannot be read (${code})`, { cause });
  }
}

/** The files of a pair that has a folder of its own; those of the first layout if it has other files or cannot be read. */
async function filesIn(folder: string): Promise<CertificateFiles | undefined> {
  let names: string[];
  try {
    if (!(await stat(folder)).isDirectory()) return undefined;
    names = await namesIn(folder);
  } catch {
    names = ['unreadable'];
  }
  if (names.length === 0) return undefined;
  const [certName, keyName] =
    LAYOUTS.find((layout) => layout.some((name) => names.includes(name))) ?? LAYOUTS[0];
  return { certFile: join(folder, certName), keyFile: join(folder, keyName) };
}

/** @throws Error that names the path if it is not a file, or if the file is too large for a certificate or a key */
export async function requireSmallFiles(files: CertificateFiles): Promise<void> {
  for (const path of [files.certFile, files.keyFile]) {
    // What is missing is reported when it is read.
    const found = await stat(path).catch(() => undefined);
    if (found === undefined || (found.isFile() && found.size <= MAX_FILE_BYTES)) continue;
    throw new Error(`${path} must be a file of at most ${MAX_FILE_BYTES} bytes`);
  }
}
