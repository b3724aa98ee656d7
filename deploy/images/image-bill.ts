import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { billOfMaterials, type SystemPackage } from '../bill-of-materials.ts';
import { thirdPartyPackages, type ThirdPartyPackage } from '../third-party-packages.ts';
import { IMAGES, type ImageName } from './image.ts';
import { pinnedNode } from './pinned-node.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export function programName(name: ImageName): string {
  return name === 'gwctl' ? name : `gateway-${name}`;
}

/** The bill of materials of a program, and of the packages of Debian beside it if it is in an image. */
export async function billOf(
  name: ImageName,
  version: string,
  system: readonly SystemPackage[] = [],
): Promise<string> {
  const lockfile = await readFile(path.join(root, 'pnpm-lock.yaml'), 'utf8');
  const packages = await packagesOf(name);
  const program = { name: programName(name), version, packages, system };
  return billOfMaterials(program, { lockfile, nodeVersion: pinnedNode() });
}

/** The packages whose code is in a program, or may be. */
async function packagesOf(name: ImageName): Promise<readonly ThirdPartyPackage[]> {
  const folders = IMAGES[name].licensed.map((folder) => path.join(root, folder));
  const all = await thirdPartyPackages(folders);
  if (name !== 'gwctl') return all;
  // Its bundle says exactly what is in it.
  const licences = path.join(root, 'packages/cli/dist/THIRD-PARTY-LICENSES');
  const bundled = new Set((await readFile(licences, 'utf8')).split('\n'));
  return all.filter((one) => bundled.has(`${one.name} ${one.version}`));
}
