import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';

/**
 * Creates a folder and its missing parents. An existing folder stays unchanged. The `recursive` option of node:fs is not used:
 * in a folder such as /proc, where mkdir fails with ENOENT, it retries for ever and keeps a thread busy.
 *
 * @throws the error of the operating system if a folder cannot be created
 */
export async function makeFolder(folder: string, mode = 0o777): Promise<void> {
  try {
    await makeOne(folder, mode);
  } catch (error) {
    const above = path.dirname(folder);
    if (codeOf(error) !== 'ENOENT' || above === folder) throw error;
    await makeFolder(above, mode);
    await makeOne(folder, mode);
  }
}

async function makeOne(folder: string, mode: number): Promise<void> {
  try {
    await mkdir(folder, { mode });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || !(await stat(folder)).isDirectory()) throw error;
  }
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
