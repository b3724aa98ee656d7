import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { z } from 'zod';

const root = fileURLToPath(new URL('..', import.meta.url));
const manifest = z.object({ dependencies: z.record(z.string(), z.string()).default({}) });

/** The packages of the repository that the sources of a package import, without its tests. */
function ownImports(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  return sources.flatMap((file) => {
    const text = readFileSync(path.join(folder, file), 'utf8');
    const found = text.matchAll(/(?:^import |\bfrom |\bimport\()'(@gateway\/[a-z-]+)/gm);
    return [...found].map(([, name = '']) => name);
  });
}

// npm start installs no devDependencies, and what it installs runs from the sources.
it.each(['cli', 'control-plane', 'data-plane', 'http', 'local-stack', 'shared'])(
  'installs with npm start what the sources of %s import',
  (name) => {
    const folder = path.join(root, 'packages', name);
    const text = readFileSync(path.join(folder, 'package.json'), 'utf8');
    const { dependencies } = manifest.parse(JSON.parse(text));
    const imported = new Set(ownImports(path.join(folder, 'src')));
    const missing = [...imported].filter((one) => dependencies[one] === undefined);
    expect(missing).toEqual([]);
  },
);
