import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

const manifest = z.object({ name: z.string(), version: z.string() });

/**
 * The licences of the packages that these modules are of, each after a line `name version`.
 *
 * @param modules the paths of the modules of a bundle
 * @throws Error that names a package without a file with its licence
 */
export function bundledLicences(modules: readonly string[]): string {
  const packages = new Set(modules.flatMap((module) => packageOf(module) ?? []));
  const texts = [...packages].toSorted().map((folder) => {
    const text = readFileSync(path.join(folder, 'package.json'), 'utf8');
    const { name, version } = manifest.parse(JSON.parse(text));
    const file = ['LICENSE', 'LICENSE.md'].find((one) => existsSync(path.join(folder, one)));
    if (file === undefined) throw new Error(`${name} has no file with its licence`);
    return `${name} ${version}\n\n${readFileSync(path.join(folder, file), 'utf8').trim()}\n`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

/** The folder of the package of a module; undefined for a module of ours. */
function packageOf(module: string): string | undefined {
  return /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(module)?.[1];
}
