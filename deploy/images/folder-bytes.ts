import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';

/** The bytes of all files below a folder, links not followed. */
export async function folderBytes(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    bytes += entry.isDirectory() ? await folderBytes(file) : (await lstat(file)).size;
  }
  return bytes;
}
