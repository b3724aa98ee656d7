import { readFile } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import { CASES } from './cases/all.ts';
import { INTENDED_DIFFERENCES, isIntended } from './intended-differences.ts';
import { overBoth } from './suites.ts';

const page = await readFile(new URL('../../../../docs/run/security.md', import.meta.url), 'utf8');

it('docs/run/security.md has the numbers of cases', () => {
  const { http1, http2 } = overBoth(CASES);
  const found =
    /table has (\d+) cases[^:]+?(\d+)\sover\sHTTP\/1\.1\sand\s(\d+)\sover\sHTTP\/2:/.exec(page);
  expect(found?.slice(1).map(Number)).toEqual([CASES.length, http1.length, http2.length]);
});

it('docs/run/security.md has the intended differences between the protocols', () => {
  const [table = ''] = /^\| malformed over HTTP\/2 [^]*?\n\n/m.exec(page) ?? [];
  const rows = [...table.matchAll(/^\| (.*?) +\|/gm)].map(([, what]) => what).slice(2);
  expect(rows).toEqual(Object.keys(INTENDED_DIFFERENCES));
});

it('a case that is malformed over HTTP/2 only is an intended difference', () => {
  for (const one of CASES) {
    if (!('fields' in one) || one.result !== 'reset' || one.http1 === 'same') continue;
    if ('why' in one.http1) expect(one.http1.why).toMatch(/./);
    else if (one.http1.client.responses[0] !== 400) {
      expect({ name: one.name, isIntended: isIntended(one.fields) }).toEqual({
        name: one.name,
        isIntended: true,
      });
    }
  }
});

it('each case has a name of its own', () => {
  expect(new Set(CASES.map(({ name }) => name)).size).toBe(CASES.length);
});
