import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = path.join(root, 'docs/contribute/formats.md');

/** The files of a package's `src` that define a format, each with the number. */
async function definedIn(source: string): Promise<string[]> {
  const names = await readdir(path.join(root, source), { recursive: true });
  const found = names
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map(async (name) => {
      const text = await readFile(path.join(root, source, name), 'utf8');
      const constants = text.matchAll(/^(?:export )?const [A-Z_]+_FORMAT = (\d+);$/gm);
      return [...constants].map(([, number]) => `${number} in ${source}/${name}`);
    });
  return (await Promise.all(found)).flat();
}

it('docs/contribute/formats.md lists every format with its number, and no other', async () => {
  const sources = ['shared', 'http', 'control-plane', 'data-plane'];
  const defined = await Promise.all(sources.map((name) => definedIn(`packages/${name}/src`)));
  const rows = (await readFile(page, 'utf8')).matchAll(/^\|[^|]+\|\s*(\d+)\s*\|\s*`([^`]+)`/gm);
  const documented = [...rows].map(([, number, file]) => `${number} in ${file}`);
  expect(documented.length).toBeGreaterThan(0);
  expect(documented.toSorted()).toEqual(defined.flat().toSorted());
});
