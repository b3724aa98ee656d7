// Builds the console into packages/console/dist, unless what is there was built from the same files.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildOnce } from '@gateway/tools/build/build-once';
import { inputDigest } from '@gateway/tools/build/input-digest';

const folder = fileURLToPath(new URL('../', import.meta.url));
const root = path.join(folder, '../..');
/** All that the built files depend on. The lockfile stands for the packages. */
const INPUTS = [
  'pnpm-lock.yaml',
  'packages/console/{index.html,package.json,tsconfig.json,vite.config.ts}',
  'packages/console/{build,src}/**/*.{ts,tsx,css}',
  'tools/build/compress-files.ts',
  'packages/client/src/**/*.ts',
  'packages/client/src/form-fields.json',
];

/** Of Brotli, which all browsers accept over TLS. People wait for these files. */
const BEST_QUALITY = 11;

async function build(draft: string): Promise<void> {
  // Whatever starts this process: tests set another value, with which React is larger and slower.
  process.env['NODE_ENV'] = 'production';
  // Loading the bundler takes longer than all else if nothing is to be built.
  const [{ build: bundle }, { config }, { compressFiles }] = await Promise.all([
    import('vite'),
    import('../vite.config.ts'),
    import('@gateway/tools/build/compress-files'),
  ]);
  const outDir = path.join(draft, 'console');
  await bundle({
    ...config,
    root: folder,
    configFile: false,
    logLevel: 'warn',
    build: { ...config.build, outDir, emptyOutDir: true },
  });
  await compressFiles(path.join(outDir, 'assets'), BEST_QUALITY);
}

await buildOnce({
  folder: path.join(folder, 'dist'),
  digest: inputDigest(root, INPUTS),
  build,
});
