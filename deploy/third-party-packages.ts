import { lstat, readdir, readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

const names = z.record(z.string(), z.string()).default({});
const manifest = z.object({
  name: z.string(),
  version: z.string(),
  license: z.string().optional(),
  dependencies: names,
  optionalDependencies: names,
});

/** An installed package of others. */
export interface ThirdPartyPackage {
  readonly name: string;
  readonly version: string;
  /** The SPDX expression of its manifest; undefined if it has none. */
  readonly licence: string | undefined;
  readonly folder: string;
  /** The names and versions of the packages that it depends on, as `name@version`. */
  readonly dependsOn: readonly string[];
}

/**
 * All packages of others that packages of the repository depend on, directly or not, from the installed ones: sorted by name
 * and version. Every package counts, whether or not a bundle has code of it.
 *
 * @param starts the folders of the packages
 */
export async function thirdPartyPackages(
  starts: readonly string[],
): Promise<readonly ThirdPartyPackage[]> {
  const waiting = await Promise.all(starts.map((start) => realpath(start)));
  const seen = new Set<string>();
  const found = new Map<string, ThirdPartyPackage>();
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    if (seen.has(folder)) continue;
    seen.add(folder);
    const { name, version, license: licence, ...own } = await readManifest(folder);
    const isOurs = !folder.includes(STORE);
    const depends = { ...own.dependencies, ...own.optionalDependencies };
    const folders = await dependencies(folder, Object.keys(depends));
    waiting.push(...folders);
    if (isOurs) continue;
    const dependsOn = await Promise.all(folders.map(async (one) => idOf(await readManifest(one))));
    found.set(idOf({ name, version }), { name, version, licence, folder, dependsOn });
  }
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

/** As `dependsOn` names a package. */
export function idOf({ name, version }: Pick<ThirdPartyPackage, 'name' | 'version'>): string {
  return `${name}@${version}`;
}

const STORE = '/node_modules/';

async function readManifest(folder: string): Promise<z.infer<typeof manifest>> {
  const text = await readFile(path.join(folder, 'package.json'), 'utf8');
  return manifest.parse(JSON.parse(text));
}

/** The text of the licence that a package comes with; undefined if it has no such file. */
export async function licenceText({ folder }: ThirdPartyPackage): Promise<string | undefined> {
  const file = (await readdir(folder)).find((name) => /^licen[cs]e/i.test(name));
  return file === undefined ? undefined : (await readFile(path.join(folder, file), 'utf8')).trim();
}

async function exists(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    () => false,
  );
}

/** The folders of the packages that this package finds: its own node_modules, or those beside it in pnpm's store. */
async function dependencies(folder: string, dependsOn: readonly string[]): Promise<string[]> {
  const places = [path.join(folder, 'node_modules')];
  if (folder.includes(STORE)) {
    places.push(folder.slice(0, folder.lastIndexOf(STORE) + STORE.length));
  }
  const found: string[] = [];
  for (const name of dependsOn) {
    for (const place of places) {
      const file = path.join(place, name);
      if (!(await exists(file))) continue;
      found.push(await realpath(file));
      break;
    }
  }
  return found;
}
