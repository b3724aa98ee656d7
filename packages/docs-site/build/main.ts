// Builds the site of the documentation into packages/docs-site/dist, unless what is there was built from the same files.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildOnce } from '@gateway/tools/build/build-once';
import { inputDigest } from '@gateway/tools/build/input-digest';
import { DOCUMENT_FILES } from './documents.ts';

const folder = fileURLToPath(new URL('../', import.meta.url));
const root = path.join(folder, '../..');
/** All that the built files depend on. The lockfile stands for the packages. */
const INPUTS = [
  'pnpm-lock.yaml',
  ...DOCUMENT_FILES,
  'docs/images/*.{png,svg}',
  'packages/client/openapi.json',
  'packages/console/src/design/*.ts',
  'packages/docs-site/{build,src}/**/*.{ts,css}',
  'packages/shared/src/errors/*.ts',
  'tools/build/compress-files.ts',
];

await buildOnce({
  folder: path.join(folder, 'dist'),
  digest: inputDigest(root, INPUTS),
  build: async (draft) => {
    // Loading what builds takes longer than all else if nothing is to be built.
    const [{ writeSite }, { compressFiles }] = await Promise.all([
      import('./write-site.ts'),
      import('@gateway/tools/build/compress-files'),
    ]);
    await writeSite(root, draft);
    await compressFiles(draft);
  },
});
