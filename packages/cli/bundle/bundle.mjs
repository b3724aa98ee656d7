// Run by `npm pack`: bundles gwctl and all that it imports into one file, so that the package has no dependencies and
// runs on an older Node than the sources.
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const folder = fileURLToPath(new URL('..', import.meta.url));
const dist = path.join(folder, 'dist');

rmSync(dist, { recursive: true, force: true });
const bundle = await rolldown({
  input: path.join(folder, 'src/gwctl.ts'),
  platform: 'node',
  transform: { target: 'node20' },
});
const { output } = await bundle.write({ file: path.join(dist, 'gwctl.mjs'), format: 'esm' });
await bundle.close();
copyFileSync(path.join(folder, '../../LICENSE'), path.join(dist, 'LICENSE'));
writeFileSync(path.join(dist, 'THIRD-PARTY-LICENSES'), licences(output.flatMap(modulesOf)));

function modulesOf(chunk) {
  return chunk.type === 'chunk' ? chunk.moduleIds : [];
}

/** The licences of the packages that these modules are of. */
function licences(modules) {
  const packages = new Set(modules.map(packageOf).filter((found) => found !== undefined));
  const texts = [...packages].sort().map((root) => {
    const { name, version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
    const file = ['LICENSE', 'LICENSE.md'].find((one) => existsSync(path.join(root, one)));
    if (file === undefined) throw new Error(`${name} has no file with its licence`);
    return `${name} ${version}\n\n${readFileSync(path.join(root, file), 'utf8').trim()}\n`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

/** The folder of the package of a module; undefined for a module of ours. */
function packageOf(module) {
  const [, root] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(module) ?? [];
  return root;
}
