import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { readTable } from './harness/read-table.ts';
import { testPairs } from './harness/test-pairs.ts';
import { nameOf } from './harness/pair.ts';
import { OVER_HTTP2, OVER_HTTP2_LONG } from './grpc/pairs.ts';
import { LONG, QUICK } from './pairs/index.ts';

const PAGE = new URL('../../docs/use/clients.md', import.meta.url);
const ALL = [...QUICK, ...LONG, ...OVER_HTTP2, ...OVER_HTTP2_LONG];

describe('a client sees through a route what it sees direct, except for what docs/use/clients.md says', () => {
  testPairs(QUICK);
});

describe('docs/use/clients.md', () => {
  it('has a row for each client, which says whether a route changes what it sees', async () => {
    const rows = readTable(await readFile(PAGE, 'utf8'), 'client');
    const pairsOf = (client: string) => ALL.filter((pair) => pair.client === client);
    const expected = [...new Set(ALL.map(({ client }) => client))].map((client) => {
      const changed = pairsOf(client).some(({ otherwise }) => Object.keys(otherwise).length > 0);
      return [client, pairsOf(client)[0]?.version, changed ? 'differs' : 'as direct'];
    });
    const documented = rows.map(([client, version, _set, works]) => [client, version, works]);
    expect(documented.toSorted()).toEqual(expected.toSorted());
  });

  it('has a row for each difference, and for nothing else', async () => {
    const rows = readTable(await readFile(PAGE, 'utf8'), 'what the client does');
    const expected = ALL.flatMap((pair) =>
      Object.entries(pair.otherwise).map(([what, through]) => [
        nameOf(pair),
        what,
        pair.direct[what],
        through,
      ]),
    );
    const documented = rows.map(([name, what, direct, through]) => [name, what, direct, through]);
    expect(documented.toSorted()).toEqual(expected.toSorted());
    for (const row of rows) expect(row[4]).not.toBe('');
  });
});
