import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * SHA-256, in hex, over the version of Node and the names and contents of all files that something is built from. Tests count as no
 * input.
 *
 * @param patterns globs relative to `root`
 */
export function inputDigest(root: string, patterns: readonly string[]): string {
  const files = globSync([...patterns], { cwd: root }).filter((file) => !file.includes('.test.'));
  const digest = createHash('sha256').update(process.version);
  for (const file of files.toSorted()) {
    digest
      .update(`${file}\0`)
      .update(readFileSync(path.join(root, file)))
      .update('\0');
  }
  return digest.digest('hex');
}
