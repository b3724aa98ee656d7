import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, copyFile, cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { APP, COMPILE_CACHE, IMAGE_UID, IMAGES, imageCommand, type ImageName } from './image.ts';
import { thirdPartyLicences } from './licences.ts';
import { writeSystemFiles } from './system-files.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** Writes what an image has below /app: the product, its entry, its health check and the licences. */
export async function writeApp(name: ImageName, app: string): Promise<void> {
  const { files, main, licensed } = IMAGES[name];
  await mkdir(app, { recursive: true });
  for (const file of files) {
    const source = path.join(repository, file);
    if (!existsSync(source)) throw new Error(`${file} does not exist; run npm run build`);
    // The digest says only what the build was made from.
    const filter = (from: string) => path.basename(from) !== 'digest';
    await cp(source, path.join(app, file), { recursive: true, filter });
  }
  await writeFile(path.join(app, 'main.mjs'), `await import('./${main}');\n`);
  const healthCheck = fileURLToPath(new URL('healthcheck.mjs', import.meta.url));
  await copyFile(healthCheck, path.join(app, 'healthcheck.mjs'));
  await copyFile(path.join(repository, 'LICENSE'), path.join(app, 'LICENSE'));
  const licences = await thirdPartyLicences(
    licensed.map((folder) => path.join(repository, folder)),
  );
  await writeFile(path.join(app, 'THIRD-PARTY-LICENSES'), licences);
}

/**
 * Runs the program once, as it runs in the image: V8 accepts cached code only from the same Node with the same options, the same
 * paths and the same user.
 */
async function warmCompileCache(name: ImageName, root: string): Promise<void> {
  const cache = path.join(root, COMPILE_CACHE);
  await mkdir(cache);
  await chown(cache, IMAGE_UID, IMAGE_UID);
  const account = `--userspec=${IMAGE_UID}:${IMAGE_UID}`;
  const { status, stdout, stderr, error } = spawnSync(
    '/usr/sbin/chroot',
    [account, root, ...imageCommand(name)],
    { env: { NODE_COMPILE_CACHE: COMPILE_CACHE }, encoding: 'utf8', timeout: 60_000 },
  );
  const output = `${stdout}${stderr}`.trim();
  if (error !== undefined || !IMAGES[name].withoutSettings.test(output)) {
    throw new Error(
      `${name} does not start in its image (${error?.message ?? `exit code ${status}`}): ${output}`,
      {
        cause: error,
      },
    );
  }
  await ownByRoot(cache);
}

async function ownByRoot(folder: string): Promise<void> {
  await chown(folder, 0, 0);
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) await ownByRoot(file);
    else {
      await chown(file, 0, 0);
      await chmod(file, 0o644);
    }
  }
}

/**
 * Makes the root file system of an image in a new folder, from this machine's libraries and the installed packages. The
 * Dockerfiles copy the same folder into an empty image.
 *
 * @param node the Node of the image
 * @throws Error if this process is not root, or the program does not start in the folder
 */
export async function makeRoot(name: ImageName, root: string, node: string): Promise<void> {
  if (process.getuid?.() !== 0) {
    throw new Error('must run as root, which may change the root folder and the user of a process');
  }
  await rm(root, { recursive: true, force: true });
  await mkdir(root, { recursive: true });
  await chmod(root, 0o755);
  await writeSystemFiles(root, node);
  await writeApp(name, path.join(root, APP));
  await warmCompileCache(name, root);
}
