import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

const DIGEST_FILE = 'digest';

export interface BuildOnceOptions {
  /** The folder to be built. It has no other files afterwards. */
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
 * Builds the folder, unless it was built from the same inputs. An interrupted build is repeated by the next call.
 *
 * Several processes may build the same at once, and one of them may be done and use the files while the others still build: each
 * file is replaced in one step, so that it is never missing.
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
    if (await isBuilt(options)) return;
    await replaceFiles(folder, draft);
    await writeFile(path.join(draft, DIGEST_FILE), digest);
    await rename(path.join(draft, DIGEST_FILE), path.join(folder, DIGEST_FILE));
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Moves the files of the draft into the folder, and removes all others, the digest first. */
async function replaceFiles(folder: string, draft: string): Promise<void> {
  await rm(path.join(folder, DIGEST_FILE), { force: true });
  // Those of inner folders first: a page comes after the files that it names.
  const files = (await filesBelow(draft)).toSorted((a, b) => depth(b) - depth(a));
  for (const file of files) {
    const place = path.join(folder, file);
    await mkdir(path.dirname(place), { recursive: true });
    await rename(path.join(draft, file), place);
  }
  const present = (await filesBelow(folder)).filter((file) => file !== DIGEST_FILE);
  for (const file of present.filter((one) => !files.includes(one))) {
    await rm(path.join(folder, file), { force: true });
  }
}

const depth = (file: string): number => file.split(path.sep).length;

/** The paths of all files, relative to the folder. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
}
