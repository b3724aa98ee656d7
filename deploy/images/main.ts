// `npm run images`: makes the root file systems of all images, runs them and prints their sizes. Needs root and Linux.
// With the arguments `root <image> <folder>`, as in the Dockerfiles: makes one root file system and nothing else.
import { mkdtemp, rm, chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { IMAGES, isImageName, MAX_IMAGE_BYTES, type ImageName } from './image.ts';
import { makeRoot } from './make-root.ts';
import { folderBytes } from './folder-bytes.ts';
import { runGwctl, servedRequest } from './run-images.ts';

function log(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function makeOne(name: ImageName, folder: string): Promise<void> {
  await makeRoot(name, folder, process.execPath);
  const bytes = await folderBytes(folder);
  const size = `${(bytes / 1e6).toFixed(1)} MB`;
  if (bytes > MAX_IMAGE_BYTES) {
    throw new Error(`the image ${name} has ${size}, more than ${MAX_IMAGE_BYTES / 1e6} MB`);
  }
  log(`${name}: ${size}`);
}

async function makeAndRunAll(): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gateway-images-'));
  try {
    await chmod(folder, 0o755);
    for (const name of Object.keys(IMAGES).filter(isImageName)) {
      await makeOne(name, path.join(folder, name));
    }
    log(await runGwctl(folder));
    log(await servedRequest(folder, log));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const [command, name, folder] = process.argv.slice(2);
try {
  if (command === undefined) await makeAndRunAll();
  else if (command === 'root' && isImageName(name) && folder !== undefined) {
    await makeOne(name, folder);
  } else {
    const names = Object.keys(IMAGES).join('|');
    throw new Error(`usage: main.ts [root <${names}> <folder>]`);
  }
} catch (error) {
  process.stderr.write(`images: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
