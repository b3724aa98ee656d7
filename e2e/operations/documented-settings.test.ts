import { readFile } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import { variables as ofControlPlane } from '@gateway/control-plane/config';
import { variables as ofDataPlane } from '@gateway/data-plane/config';

const page = new URL('../../docs/run/settings.md', import.meta.url);

/** The variables of the tables below a heading of second level. */
function section(text: string, heading: string): string[] {
  const body = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  return [...body.matchAll(/^\| `([A-Z0-9_]+)`/gm)].map(([, name = '']) => name);
}

it('docs/run/settings.md lists every setting of each plane, and no other', async () => {
  const text = await readFile(page, 'utf8');
  const shared = section(text, 'Both planes');
  for (const [heading, variables] of [
    ['Control plane', ofControlPlane],
    ['Data plane', ofDataPlane],
  ] as const) {
    const documented = [...shared, ...section(text, heading)];
    expect(documented.toSorted()).toEqual(Object.keys(variables.shape).toSorted());
  }
});
