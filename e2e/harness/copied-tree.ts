import { cp, symlink } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Copies files and folders of the repository, without what was built, and links others. Copied packages keep their links to
 * each other, which lead to the copies; those to other packages lead to the originals.
 *
 * @param copied and `linked`: paths relative to the root
 */
export async function copyTree(
  folder: string,
  copied: readonly string[],
  linked: readonly string[],
): Promise<void> {
  const filter = (from: string) => !/\/(\.cache|dist)(\/|$)/.test(from.slice(root.length - 1));
  const options = { recursive: true, verbatimSymlinks: true, filter };
  for (const name of copied) await cp(path.join(root, name), path.join(folder, name), options);
  for (const name of linked) await symlink(path.join(root, name), path.join(folder, name));
}
