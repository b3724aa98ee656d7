import { readFileSync } from 'node:fs';

const MANIFEST = new URL('../../tools/node/package.json', import.meta.url);

/** The version of Node that images contain, such as `26.10.0`; the lockfile pins the same one. */
export function pinnedNode(): string {
  const { optionalDependencies } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as {
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  const [version, ...others] = new Set(Object.values(optionalDependencies));
  if (version === undefined || others.length > 0) throw new Error('tools/node pins no one version');
  return version;
}
