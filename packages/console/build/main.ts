// Builds the console into packages/console/dist, unless what is there was built from the same files.
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { inputDigest } from './digest.ts';

const folder = fileURLToPath(new URL('../', import.meta.url));
const dist = path.join(folder, 'dist');
const DIGEST_FILE = 'digest';

async function builtDigest(): Promise<string | undefined> {
  return readFile(path.join(dist, DIGEST_FILE), 'utf8').catch(() => undefined);
}

/** Builds beside the present files and then replaces them, so that an interrupted build leaves nothing half done. */
async function build(digest: string): Promise<void> {
  // Whatever starts this process: tests set another value, with which React is larger and slower.
  process.env['NODE_ENV'] = 'production';
  // Loading the bundler takes longer than all else if nothing is to be built.
  const [{ build: bundle }, { config }, { compressFiles }] = await Promise.all([
    import('vite'),
    import('../vite.config.ts'),
    import('./compress.ts'),
  ]);
  const draft = path.join(folder, `node_modules/.cache/dist-${process.pid}`);
  const outDir = path.join(draft, 'console');
  try {
    await bundle({
      ...config,
      root: folder,
      configFile: false,
      logLevel: 'warn',
      build: { ...config.build, outDir, emptyOutDir: true },
    });
    await compressFiles(path.join(outDir, 'assets'));
    await writeFile(path.join(draft, DIGEST_FILE), digest);
    await rm(dist, { recursive: true, force: true });
    await rename(draft, dist);
  } catch (error) {
    // Another process may have built the same at the same time.
    if ((await builtDigest()) !== digest) throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

const digest = inputDigest();
if ((await builtDigest()) !== digest) await build(digest);
