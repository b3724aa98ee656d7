import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { idle, newest, openModelStore } from '../../test/quota/model-store.ts';

const LIMIT = 100;
const README = new URL('README.md', import.meta.url);

/** The numbers of each row of the example: granted, reserves of A and B, free, leases of A and B, debt of A. */
function rowsOfExample(): number[][] {
  const [, example = ''] = readFileSync(README, 'utf8').split('## An example');
  const rows = example.split('\n').filter((line) => line.startsWith('| '));
  return rows.slice(2).map((row) => row.split('|').slice(2, -1).map(Number));
}

it('the example of the page about quotas is what happens', async () => {
  const {
    store: a,
    open,
    take,
    settle,
    settled,
    ledger,
    clock,
    policy,
  } = openModelStore({ limit: LIMIT, nodes: 2, shares: true });
  const b = open(1);
  const grant = async (from: typeof a, requests: number) => {
    let granted = 0;
    for (let sent = 0; sent < requests; sent += 1) {
      granted += (await settled(take(from))).granted ? 1 : 0;
    }
    return granted;
  };
  const leased = async (of: typeof a) => (await settled(of.view(policy, '', clock.nowMs()))).leased;
  const row = async (debt = 0) => {
    const { granted = 0, reserves } = newest(ledger) ?? {};
    const own = reserves?.['0']?.requests ?? LIMIT / 2;
    const other = reserves?.['1']?.requests ?? LIMIT / 2;
    const free = LIMIT - granted - own - other;
    return [granted, own - debt, other, free, await leased(a), await leased(b), debt];
  };
  const rows = [[0, LIMIT / 2, LIMIT / 2, 0, 0, 0, 0]];
  expect(await grant(a, 10)).toBe(10);
  rows.push(await row());
  expect(await grant(b, 1)).toBe(1);
  rows.push(await row());

  ledger.cutOff(0);
  for (let sent = 0; sent < 12; sent += 1) expect(take(a)).toMatchObject({ granted: true });
  rows.push(await row(a.counts.reserveTakes));
  ledger.reconnect(0);
  clock.advance(500);
  await settle();
  await idle();
  rows.push(await row());

  expect(await grant(a, 100)).toBe(77);
  expect(await grant(b, 1)).toBe(0);
  rows.push(await row());
  expect(rowsOfExample()).toEqual(rows);
});
