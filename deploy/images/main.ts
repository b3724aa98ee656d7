// `npm run images`: builds everything, makes the root file systems of all images, runs them and prints their sizes. Needs root and Linux.
// With the arguments `root <image> <folder>`, as in the Dockerfiles: makes one root file system and nothing else.
import { mkdtemp, rm, chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildProduct } from '../build-product.ts';
import { presentVersion } from '../present-version.ts';
import { folderBytes } from './folder-bytes.ts';
import { isImageName, MAX_IMAGE_BYTES, type ImageName } from './image.ts';
import { makeRoot } from './make-root.ts';
import { runGwctl, servedRequest } from './run-images.ts';
import { IMAGE_NAMES, rootEntries } from './write-images.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

function log(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function makeOne(name: ImageName, folder: string, debian: string): Promise<void> {
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
  const version = await presentVersion(root);
  const options = { version, debian: { folder: debian, log } };
  await makeRoot(folder, await rootEntries(name, architecture, options));
  const bytes = await folderBytes(folder);
  const size = `${(bytes / 1e6).toFixed(1)} MB`;
  if (bytes > MAX_IMAGE_BYTES) {
    throw new Error(`the image ${name} has ${size}, more than ${MAX_IMAGE_BYTES / 1e6} MB`);
  }
  log(`${name}: ${size}`);
}

async function makeAndRunAll(folder: string): Promise<void> {
  await buildProduct();
  await chmod(folder, 0o755);
  for (const name of IMAGE_NAMES) {
    await makeOne(name, path.join(folder, name), path.join(folder, 'debian'));
  }
  log(await runGwctl(folder));
  log(await servedRequest(folder, log));
}

const [command, name, folder] = process.argv.slice(2);
const draft = await mkdtemp(path.join(tmpdir(), 'gateway-images-'));
try {
  if (command === undefined) await makeAndRunAll(draft);
  else if (command === 'root' && isImageName(name) && folder !== undefined) {
    await makeOne(name, folder, path.join(draft, 'debian'));
  } else {
    throw new Error(`usage: main.ts [root <${IMAGE_NAMES.join('|')}> <folder>]`);
  }
} catch (error) {
  process.stderr.write(`images: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await rm(draft, { recursive: true, force: true });
}
