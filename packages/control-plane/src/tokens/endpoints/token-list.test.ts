import { tokenState, TOKEN_STATES } from '@gateway/shared/tokens/token-states';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { expectError } from '../../../test/expect-error.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Each token: when it was created, last used and expires, in days from now; null: never. */
const TOKENS = [
  ['shop', -400, -1, null],
  ['Shop-two', -400, -91, null],
  ['billing', -100, null, null],
  ['new', -5, null, 15],
  ['ending', -200, -150, 13],
  ['ended', -30, -20, -1],
] as const;

describe('the list of tokens', () => {
  let api: TestApi;
  const ids = new Map<string, string>();
  beforeAll(async () => {
    api = await startTestApi();
    for (const [name, made, used, end] of TOKENS) {
      // Ids of one millisecond are in no order.
      api.clock.advance(1);
      const body = { name, environments: ['production'], scopes: ['proxy'] };
      const { json } = await api.call('POST', '/v1/tokens', { body });
      ids.set(name, json.data?.id ?? '');
      const time = (days: number | null) =>
        days === null ? null : new Date(api.clock.nowMs() + days * DAY_MS);
      await sql`
        UPDATE tokens SET created_at = ${time(made)}, last_used_at = ${time(used)}, expires_at = ${time(end)}
        WHERE name = ${name}
      `.execute(api.db);
    }
  });
  afterAll(() => api.close());

  async function list(query: string, limit = 2): Promise<readonly Record<string, unknown>[]> {
    const found: Record<string, unknown>[] = [];
    let cursor: string | null = null;
    do {
      const next: string = cursor === null ? '' : `&cursor=${cursor}`;
      const answer = await api.call('GET', `/v1/tokens?${query}&limit=${limit}${next}`);
      expect(answer.status).toBe(200);
      found.push(...(answer.json.data ?? []));
      cursor = answer.json.next_cursor ?? null;
    } while (cursor !== null);
    return found.filter((one) => one['name'] !== 'admin');
  }
  const namesOf = async (query: string, limit?: number) =>
    (await list(query, limit)).map((one) => one['name']);

  it.each([
    ['active', ['shop', 'new']],
    ['unused', ['Shop-two', 'billing']],
    ['expiring', ['ending']],
    ['expired', ['ended']],
  ])('has the tokens that are %s', async (state, names) => {
    expect(await namesOf(`state=${state}`)).toEqual(names);
  });

  it('has each token in one state, the one that the console shows', async () => {
    for (const state of TOKEN_STATES) {
      for (const token of await list(`state=${state}`)) {
        expect([token['name'], tokenState(token as never, api.clock.nowMs())]).toEqual([
          token['name'],
          state,
        ]);
      }
    }
    const all = await Promise.all(TOKEN_STATES.map((state) => namesOf(`state=${state}`)));
    expect(all.flat()).toHaveLength(TOKENS.length);
  });

  it.each([
    ['name', 'Shop-two billing ended ending new shop'],
    ['-name', 'shop new ending ended billing Shop-two'],
    ['last_used_at', 'billing new ending Shop-two ended shop'],
    ['-last_used_at', 'shop ended Shop-two ending billing new'],
    ['expires_at', 'ended ending new shop Shop-two billing'],
    ['-expires_at', 'shop Shop-two billing new ending ended'],
  ])('is ordered over all pages: %s', async (order, expected) => {
    const sorted = (names: readonly unknown[]) => names.map((name) => String(name));
    const wanted = expected.split(' ');
    const found = sorted(await namesOf(`order=${order}`));
    // How a database orders capitals is its setting.
    const isByName = order.endsWith('name');
    const compared = (names: readonly string[]) =>
      isByName ? names.filter((name) => name !== 'Shop-two') : names;
    expect(compared(found)).toEqual(compared(wanted));
    expect(sorted(await namesOf(`order=${order}`, 4))).toEqual(found);
  });

  it('is searched by a part of the name in any case, and by ids', async () => {
    expect(await namesOf('search=SHOP')).toEqual(['shop', 'Shop-two']);
    expect(await namesOf('search=shop&state=unused')).toEqual(['Shop-two']);
    expect(await namesOf(`ids=${ids.get('new')},${ids.get('shop')}`)).toEqual(['shop', 'new']);
    expect(await namesOf('ids=nobody')).toEqual([]);
    expect(await namesOf('environment=development')).toEqual([]);
  });

  it('shows only tokens without more rights than the caller, also by id', async () => {
    const scopes = ['tokens:read'];
    const token = await api.makeToken({ name: 'looker', environments: ['production'], scopes });
    for (const query of [`ids=${ids.get('shop')}`, 'search=shop', 'order=name']) {
      const { json } = await api.call('GET', `/v1/tokens?${query}`, { token });
      expect(json.data?.map((one) => one['name'])).not.toContain('shop');
    }
  });

  it('has the begin of the newest secret of a token', async () => {
    const id = ids.get('shop') ?? '';
    const rotated = await api.call('POST', `/v1/tokens/${id}/rotate`, { body: {} });
    const secret = rotated.json.data?.secret ?? '';
    const [shown] = await list(`ids=${id}`);
    expect(shown?.['secret_prefix']).toBe(secret.slice(0, 8));
    // A release that does not know the column gives it a new secret.
    await sql`UPDATE tokens SET secret_sha256 = sha256('other') WHERE id = ${id}`.execute(api.db);
    expect((await list(`ids=${id}`))[0]?.['secret_prefix']).toBeNull();
  });

  it.each([
    ['state', 'state=gone'],
    ['order', 'order=id'],
    ['ids', `ids=${Array.from({ length: 201 }, () => `tok_${'0'.repeat(26)}`).join(',')}`],
  ])('names a wrong %s', async (path, query) => {
    const answer = await api.call('GET', `/v1/tokens?${query}`);
    expectError(answer, 400, 'invalid_request');
    expect(answer.json.error?.['details']).toMatchObject([{ path }]);
  });
});
