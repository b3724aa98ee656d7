import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

const DIGEST_FILE = 'digest';

export interface BuildOnceOptions {
  /** The folder to be built. It is replaced as a whole. */
  readonly folder: string;
  /** Of all that it is built from; see `inputDigest`. */
  readonly digest: string;
  /** Writes the content into a new folder. */
  readonly build: (draft: string) => Promise<void>;
}

/** Whether the folder was built from the same inputs. */
export async function isBuilt({
  folder,
  digest,
}: Omit<BuildOnceOptions, 'build'>): Promise<boolean> {
  const built = await readFile(path.join(folder, DIGEST_FILE), 'utf8').catch(() => undefined);
  return built === digest;
}

/**
 * Builds the folder, unless it was built from the same inputs. A complete build replaces the present one as a whole, so that an
 * interrupted build leaves nothing half done.
 *
 * @throws the error of the build
 */
export async function buildOnce(options: BuildOnceOptions): Promise<void> {
  if (await isBuilt(options)) return;
  const { folder, digest, build } = options;
  const { dir, base } = path.parse(folder);
  // In a folder that linters and git ignore.
  const draft = path.join(dir, 'node_modules/.cache', `${base}-${process.pid}`);
  try {
    await build(draft);
    await writeFile(path.join(draft, DIGEST_FILE), digest);
    await rm(folder, { recursive: true, force: true });
    await rename(draft, folder);
  } catch (error) {
    // Another process may have built the same at the same time.
    if (!(await isBuilt(options))) throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
