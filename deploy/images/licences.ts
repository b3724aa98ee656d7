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

async function exists(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    () => false,
  );
}

/** The folders of the packages that this package finds: its own node_modules, or those beside it in pnpm's store. */
async function dependencies(folder: string, dependsOn: readonly string[]): Promise<string[]> {
  const store = '/node_modules/';
  const places = [path.join(folder, 'node_modules')];
  if (folder.includes(store)) {
    places.push(folder.slice(0, folder.lastIndexOf(store) + store.length));
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

/**
 * The licences of all packages of others that a package of the repository depends on, from the installed packages. Every package
 * counts, whether or not the bundle has code of it.
 */
export async function thirdPartyLicences(start: string): Promise<string> {
  const waiting = [await realpath(start)];
  const seen = new Set<string>();
  const texts = new Map<string, string>();
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    if (seen.has(folder)) continue;
    seen.add(folder);
    const text = await readFile(path.join(folder, 'package.json'), 'utf8');
    const parsed = manifest.parse(JSON.parse(text));
    const dependsOn = { ...parsed.dependencies, ...parsed.optionalDependencies };
    waiting.push(...(await dependencies(folder, Object.keys(dependsOn))));
    if (!folder.includes('/node_modules/')) continue;
    const file = (await readdir(folder)).find((name) => /^licen[cs]e/i.test(name));
    const licence =
      file === undefined
        ? `License: ${parsed.license ?? 'see its package.json'}`
        : (await readFile(path.join(folder, file), 'utf8')).trim();
    texts.set(`${parsed.name} ${parsed.version}`, licence);
  }
  const sorted = [...texts].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([name, text]) => `${name}\n\n${text}\n`).join(`\n${'-'.repeat(80)}\n\n`);
}
