import { readFileSync } from 'node:fs';

const ROOT = new URL('../../../', import.meta.url);

/** The version of a package that is installed with the repository, by the workspace that depends on it. */
export function pinnedVersion(name: string, workspace = 'e2e'): string {
  const manifest = readFileSync(new URL(`${workspace}/package.json`, ROOT), 'utf8');
  const { dependencies, devDependencies } = JSON.parse(manifest) as Record<
    'dependencies' | 'devDependencies',
    Readonly<Record<string, string>>
  >;
  const version = { ...dependencies, ...devDependencies }[name];
  if (version === undefined) throw new Error(`${workspace} does not depend on ${name}`);
  return version;
}
