import { chmod, chown, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Entry } from './oci/tar.ts';

/**
 * Writes the entries of the layers of an image into a new folder: the root file system that a container has. The Dockerfiles copy it
 * into an empty image.
 *
 * @throws Error if this process is not root, which may give files to another user
 */
export async function makeRoot(root: string, entries: readonly Entry[]): Promise<void> {
  if (process.getuid?.() !== 0) throw new Error('must run as root, which may set owners of files');
  await rm(root, { recursive: true, force: true });
  await mkdir(root, { recursive: true });
  await chmod(root, 0o755);
  for (const entry of entries) {
    const file = path.join(root, entry.path);
    if ('target' in entry) {
      await symlink(entry.target, file);
      continue;
    }
    if ('isFolder' in entry) await mkdir(file, { recursive: true });
    else if (Buffer.isBuffer(entry.content)) await writeFile(file, entry.content);
    else await writeFile(file, entry.content.read());
    await chown(file, entry.owner ?? 0, entry.owner ?? 0);
    await chmod(file, entry.mode);
  }
}
