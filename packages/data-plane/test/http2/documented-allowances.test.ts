import { readFile } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import { ALLOWED } from '@gateway/http/http2/limits';

it('docs/run/security.md has the allowance of each kind of frame', async () => {
  const page = await readFile(new URL('../../../../docs/run/security.md', import.meta.url), 'utf8');
  const rows = page.matchAll(/^\| `(\w+)`[^|]* \| +(\d+) \| +(\d+) \| +(\d+) \|$/gm);
  const documented = [...rows].map(([, kind = '', burst, perSecond, perData]) => [
    kind,
    { burst: Number(burst), perSecond: Number(perSecond), perData: Number(perData) },
  ]);
  expect(Object.fromEntries(documented)).toEqual(ALLOWED);
});
