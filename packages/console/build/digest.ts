import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
/** All that the built files depend on. The lockfile stands for the packages. */
const INPUTS = [
  'pnpm-lock.yaml',
  'packages/console/{index.html,package.json,tsconfig.json,vite.config.ts}',
  'packages/console/{build,src}/**/*.{ts,tsx,css}',
  'packages/client/src/**/*.ts',
];

/** SHA-256 over the names and contents of all files that the built console depends on. */
export function inputDigest(): string {
  const files = globSync(INPUTS, { cwd: root }).filter((file) => !file.includes('.test.'));
  const digest = createHash('sha256').update(process.version);
  for (const file of files.toSorted()) {
    digest
      .update(`${file}\0`)
      .update(readFileSync(path.join(root, file)))
      .update('\0');
  }
  return digest.digest('hex');
}
