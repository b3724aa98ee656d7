import { existsSync } from 'node:fs';
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { withParents } from './base-layer.ts';
import { APP, IMAGES, type ImageName } from './image.ts';
import { thirdPartyLicences } from './licences.ts';
import type { Entry } from './oci/tar.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const FILE = 0o644;
/** Where scanners look for a bill of materials. */
const BILLS = 'usr/share/sbom';

/** Writes what an image has below /app: the product, its entry, its health check and the licences. */
export async function writeApp(name: ImageName, app: string): Promise<void> {
  const { files, main, licensed } = IMAGES[name];
  await mkdir(app, { recursive: true });
  for (const file of files) {
    const source = path.join(repository, file);
    if (!existsSync(source))
      throw new Error(`${file} does not exist; run npm run build, for gwctl npm run pack`);
    // The digest says only what the build was made from.
    const filter = (from: string) => path.basename(from) !== 'digest';
    await cp(source, path.join(app, file), { recursive: true, filter });
  }
  await writeFile(path.join(app, 'main.mjs'), `await import('./${main}');\n`);
  const healthCheck = fileURLToPath(new URL('healthcheck.mjs', import.meta.url));
  await copyFile(healthCheck, path.join(app, 'healthcheck.mjs'));
  await copyFile(path.join(repository, 'LICENSE'), path.join(app, 'LICENSE'));
  const licences = path.join(app, 'THIRD-PARTY-LICENSES');
  const ofBundle = path.join(repository, 'packages/cli/dist/THIRD-PARTY-LICENSES');
  // The packages of gwctl import more of others than its bundle has.
  if (name === 'gwctl') await copyFile(ofBundle, licences);
  else {
    const folders = licensed.map((folder) => path.join(repository, folder));
    await writeFile(licences, await thirdPartyLicences(folders));
  }
}

/** The layer of an image with the product, and its bill of materials, which scanners of images find. */
export async function appEntries(name: ImageName, bill: string): Promise<Entry[]> {
  const draft = await mkdtemp(path.join(tmpdir(), 'gateway-app-'));
  try {
    await writeApp(name, draft);
    const found = await readdir(draft, { recursive: true, withFileTypes: true });
    const files = found
      .filter((one) => one.isFile())
      .map(async (one): Promise<Entry> => {
        const file = path.join(one.parentPath, one.name);
        const inImage = path.join(APP.slice(1), path.relative(draft, file));
        return { path: inImage, mode: FILE, content: await readFile(file) };
      });
    const content = Buffer.from(bill);
    const ofBill: Entry = { path: `${BILLS}/gateway-${name}.cdx.json`, mode: FILE, content };
    return withParents([...(await Promise.all(files)), ofBill]);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
