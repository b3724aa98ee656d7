import { readFile } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import {
  FIELDS_SUITES,
  IDENTITY_SUITES,
  OPEN_ROUTE_SUITES,
  REQUEST_SUITES,
  RESPONSE_SUITES,
} from './cases/all.ts';
import { overBoth } from './suites.ts';

const CASES = [
  ...[REQUEST_SUITES, RESPONSE_SUITES, IDENTITY_SUITES, OPEN_ROUTE_SUITES, FIELDS_SUITES],
].flatMap((suites) => Object.values(suites).flat());

it('docs/run/security.md has the numbers of conformance cases', async () => {
  const page = await readFile(new URL('../../../../docs/run/security.md', import.meta.url), 'utf8');
  const [found = '', ...counts] =
    /conformance table has (\d+) cases.*?: (\d+) over HTTP\/1\.1 and (\d+) over HTTP\/2/s.exec(
      page,
    ) ?? [];
  expect(found).not.toBe('');
  const { http1, http2 } = overBoth(CASES);
  expect(counts.map(Number)).toEqual([CASES.length, http1.length, http2.length]);
});

it('each case has a name of its own, and a reason if HTTP/1.1 has no such request', () => {
  expect(new Set(CASES.map(({ name }) => name)).size).toBe(CASES.length);
  for (const one of CASES) {
    if ('fields' in one && one.http1 !== 'same' && 'why' in one.http1) {
      expect(one.http1.why).toMatch(/./);
    }
  }
});
