import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createIdFactory } from '@gateway/shared/ids';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { createTokenSecret, hashTokenSecretBytes } from '@gateway/shared/tokens/secret';
import type { KyselyPlugin } from 'kysely';
import { openTestStore, type TestStore } from '../../test/store.ts';
import { ownOrigin } from '../changes/store/change-origin.ts';
import { createToken, revokeToken } from '../tokens/store/change-tokens.ts';
import { findTokenBySecret, type OpenedToken } from '../access/store/find-tokens.ts';
import { TokenLookup, UNKNOWN_SECRET_MS } from './token-lookup.ts';

describe('the lookup of a token', () => {
  let store: TestStore;
  let queries: number;
  const clock = manualClock();
  const newId = createIdFactory(() => clock.nowMs());
  const newHash = () => hashTokenSecretBytes(createTokenSecret());

  beforeAll(async () => void (store = await openTestStore()));
  afterAll(() => store.close());
  beforeEach(() => void (queries = 0));

  function openLookup(maxUnknown?: number): TokenLookup<OpenedToken> {
    const counting: KyselyPlugin = {
      transformQuery: ({ node }) => {
        queries += 1;
        return node;
      },
      transformResult: ({ result }) => Promise.resolve(result),
    };
    const db = store.db.withPlugin(counting);
    return new TokenLookup((sha256) => findTokenBySecret(db, sha256), clock, maxUnknown);
  }

  async function makeToken(secret_sha256: Buffer): Promise<string> {
    const id = newId('tok');
    const reach = { environments: ['*'], routes: ['*'], scopes: ['proxy' as const] };
    const token = { id, name: id, ...reach, secret_sha256, expires_at: null, created_by: null };
    await createToken(store.db, token, ownOrigin(newId));
    return id;
  }

  it('makes one query of many calls with the same false token, one after another or at once', async () => {
    const lookup = openLookup();
    const falseHash = newHash();
    for (let call = 0; call < 5; call += 1) expect(await lookup.find(falseHash)).toBeUndefined();
    expect(queries).toBe(1);
    const other = newHash();
    const found = await Promise.all(Array.from({ length: 20 }, () => lookup.find(other)));
    expect(found.filter((token) => token !== undefined)).toEqual([]);
    expect(queries).toBe(2);
  });

  it('asks again a second later, and finds a token that was created since', async () => {
    const lookup = openLookup();
    const hash = newHash();
    expect(await lookup.find(hash)).toBeUndefined();
    const id = await makeToken(hash);
    clock.advance(UNKNOWN_SECRET_MS - 1);
    expect(await lookup.find(hash)).toBeUndefined();
    clock.advance(1);
    expect(await lookup.find(hash)).toMatchObject({ id });
    expect(queries).toBe(2);
  });

  it('asks in each call for a token that exists, so that a revoked one is refused at once', async () => {
    const lookup = openLookup();
    const hash = newHash();
    const id = await makeToken(hash);
    const found = await Promise.all([lookup.find(hash), lookup.find(hash)]);
    expect(found).toMatchObject([{ id }, { id }]);
    expect(queries).toBe(2);
    await revokeToken(store.db, id, ownOrigin(newId), () => undefined);
    expect(await lookup.find(hash)).toBeUndefined();
  });

  it('remembers a bounded number of false tokens, and forgets the oldest', async () => {
    const lookup = openLookup(2);
    const [first, second, third] = [newHash(), newHash(), newHash()];
    for (const hash of [first, second, third]) await lookup.find(hash);
    queries = 0;
    for (const hash of [second, third]) await lookup.find(hash);
    expect(queries).toBe(0);
    await lookup.find(first);
    expect(queries).toBe(1);
  });
});
