import { cp, lstat, mkdir, readFile, readlink, realpath, symlink } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

const manifest = z.object({
  dependencies: z.record(z.string(), z.string()).default({}),
  optionalDependencies: z.record(z.string(), z.string()).default({}),
  peerDependencies: z.record(z.string(), z.string()).default({}),
});

/** What a package brings and a running process never reads: types, source maps, documentation, tests. */
const UNREAD = /\.(d\.[cm]?ts|map|md|markdown|flow|tsbuildinfo)$|\.test\.ts$/;
const UNREAD_FOLDERS = new Set(['test', 'tests', 'benchmark', 'benchmarks', 'node_modules']);

async function exists(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    () => false,
  );
}

/** Copies a folder without what a running process never reads. */
async function copyFolder(from: string, to: string): Promise<void> {
  await cp(from, to, {
    recursive: true,
    filter: (source) => {
      const relative = path.relative(from, source);
      return !UNREAD_FOLDERS.has(relative) && !UNREAD.test(source);
    },
  });
}

/** The links in node_modules with which this package finds the packages that it depends on. */
async function linksOf(folder: string): Promise<string[]> {
  const parsed = manifest.parse(
    JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')),
  );
  const names = Object.keys({
    ...parsed.dependencies,
    ...parsed.optionalDependencies,
    ...parsed.peerDependencies,
  });
  const store = '/node_modules/';
  const shared = folder.includes(store)
    ? folder.slice(0, folder.lastIndexOf(store) + store.length)
    : undefined;
  const found: string[] = [];
  for (const name of names) {
    const places = [path.join(folder, 'node_modules', name)];
    if (shared !== undefined) places.push(path.join(shared, name));
    for (const place of places) {
      if (!(await exists(place))) continue;
      found.push(place);
      break;
    }
  }
  return found;
}

/**
 * Copies these packages of the repository and every package that they depend on at run time, from the installed packages, into
 * the same places below `target`. Nothing is downloaded. The links of pnpm are relative, so they work in the copy.
 */
export async function copyProductionFiles(
  root: string,
  packages: readonly string[],
  target: string,
): Promise<void> {
  const place = (file: string) => path.join(target, path.relative(root, file));
  const waiting = await Promise.all(packages.map((one) => realpath(path.join(root, one))));
  const copied = new Set<string>();
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    if (copied.has(folder)) continue;
    copied.add(folder);
    await copyFolder(folder, place(folder));
    for (const link of await linksOf(folder)) {
      waiting.push(await realpath(link));
      if (!(await lstat(link)).isSymbolicLink() || (await exists(place(link)))) continue;
      await mkdir(path.dirname(place(link)), { recursive: true });
      await symlink(await readlink(link), place(link));
    }
  }
}
