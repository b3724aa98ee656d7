import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { callerOf, startVerifier } from '../../../test/issuer-verifier.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import {
  AUDIENCE,
  createIssuerKey,
  ISSUER,
  startTokenIssuer,
  type Claims,
  type IssuerKey,
} from '@gateway/shared/test/token-issuer';
import { CLOCK_SKEW_SECONDS } from './verify-jwt.ts';

const opened = closeAfterEach();

const setUp = () => startVerifier(opened);

describe('the verifier of JWTs', () => {
  it('returns no promise for a token that it has verified', async () => {
    const { issuer, verify, count } = await setUp();
    const token = await issuer.token();
    const first = verify(token);
    expect(first).toBeInstanceOf(Promise);
    const caller = callerOf(await first);
    expect(verify(token)).toEqual({ kind: 'caller', caller });
    expect(await count('verified')).toBe(1);
    expect(await count('known')).toBe(1);
  });

  it('forgets a verified token when it expires', async () => {
    const { issuer, verify, advance } = await setUp();
    const token = await issuer.token();
    callerOf(await verify(token));
    advance((300 - 2) * 1000 + CLOCK_SKEW_SECONDS * 1000);
    callerOf(await verify(token));
    advance(3000);
    expect(await verify(token)).toEqual({ kind: 'refused', reason: 'The token has expired.' });
  });

  it('verifies a token again for a route with other requirements', async () => {
    const { issuer, auth, verify } = await setUp();
    const token = await issuer.token();
    callerOf(await verify(token));
    expect(verify(token, { ...auth })).not.toBeInstanceOf(Promise);
    const refused = { kind: 'refused' };
    expect(await verify(token, { ...auth, audience: ['other'] })).toMatchObject(refused);
    expect(verify(token, { ...auth, issuer: 'other' })).toEqual({ kind: 'other_issuer' });
    expect(await verify(token, { ...auth, algorithms: ['RS256'] })).toMatchObject(refused);
    const requiredClaims = [{ name: 'tenant', values: undefined }];
    expect(await verify(token, { ...auth, requiredClaims })).toMatchObject(refused);
    const other = opened(await startTokenIssuer());
    expect(await verify(token, { ...auth, jwksUrl: other.jwksUrl })).toMatchObject(refused);
  });

  it('accepts tokens of a new key as soon as the issuer publishes it and none of a withdrawn key', async () => {
    const { issuer, keySets, auth, verify, advance } = await setUp();
    const old = await issuer.token();
    callerOf(await verify(old));
    issuer.keys = [await createIssuerKey()];
    callerOf(await verify(await issuer.token()));
    expect(await verify(old)).toEqual({ kind: 'refused', reason: undefined });
    expect(issuer.fetches).toBe(2);
    advance(10_000);
    expect(await verify(old)).toEqual({ kind: 'refused', reason: undefined });
    expect(issuer.fetches).toBe(3);
    expect(keySets.at(auth.jwksUrl).keys?.size).toBe(1);
  });

  it.each<[string, object]>([
    ['no id', { kid: undefined }],
    ['the id of the old one', { kid: 'only' }],
  ])('accepts tokens of a new key that has %s', async (_case, id) => {
    const { issuer, verify } = await setUp();
    const named = async () => {
      const key = await createIssuerKey();
      return { ...key, ...id, jwk: { ...key.jwk, ...id } } as IssuerKey;
    };
    issuer.keys = [await named()];
    callerOf(await verify(await issuer.token()));
    issuer.keys = [await named()];
    callerOf(await verify(await issuer.token()));
    expect(issuer.fetches).toBe(2);
  });

  it('asks the issuer once for any number of tokens with forged signatures', async () => {
    const { issuer, verify } = await setUp();
    callerOf(await verify(await issuer.token()));
    const [{ kid } = { kid: '' }] = issuer.keys;
    const forger = { ...(await createIssuerKey()), kid };
    const forged = await Promise.all(
      Array.from({ length: 50 }, () => issuer.token({}, { key: forger })),
    );
    const verdicts = await Promise.all(forged.map(async (token) => verify(token)));
    expect(verdicts).toEqual(Array(50).fill({ kind: 'refused', reason: undefined }));
    expect(issuer.fetches).toBe(2);
  });

  it('asks the issuer once for any number of tokens with unknown keys', async () => {
    const { issuer, verify } = await setUp();
    callerOf(await verify(await issuer.token()));
    const key = await createIssuerKey();
    const strangers = await Promise.all(
      Array.from({ length: 400 }, (_, index) =>
        issuer.token({}, { key, header: { kid: `made-up-${index}` } }),
      ),
    );
    const verdicts = await Promise.all(strangers.map(async (token) => verify(token)));
    expect(new Set(verdicts.map((verdict) => verdict.kind))).toEqual(new Set(['refused']));
    expect(issuer.fetches).toBe(2);
  });

  it('verifies new tokens with the last good set while the issuer is down', async () => {
    const { issuer, verify, advance, logLines } = await setUp();
    callerOf(await verify(await issuer.token()));
    await issuer.close();
    advance(60_000);
    const unknown = await issuer.token({}, { key: await createIssuerKey() });
    expect(await verify(unknown)).toEqual({ kind: 'refused', reason: undefined });
    callerOf(await verify(await issuer.token({ sub: 'user-2' })));
    expect(logLines.join()).toContain('"result":"unreachable"');
  });

  it('answers no_keys with the time of the next fetch while there is no set, and recovers', async () => {
    const { issuer, verify, count } = await setUp();
    issuer.answer = (response) => void response.writeHead(500).end();
    const token = await issuer.token();
    expect(await verify(token)).toEqual({ kind: 'no_keys', retryAfterSeconds: 1 });
    expect(await count('no_keys')).toBe(1);
    issuer.answer = undefined;
    await eventually(async () => callerOf(await verify(token)));
  });

  it('waits for a hanging issuer no longer than the deadline of the request', async () => {
    const { issuer, verify } = await setUp();
    issuer.answer = () => undefined;
    const startedMs = performance.now();
    expect(await verify(await issuer.token(), undefined, 50)).toMatchObject({ kind: 'no_keys' });
    expect(performance.now() - startedMs).toBeLessThan(4000);
  });

  it('refuses a token that is too long without parsing it', async () => {
    const { issuer, verify } = await setUp();
    const token = await issuer.token({ filler: 'x'.repeat(8 * 1024) });
    expect(verify(token)).toEqual({ kind: 'other_issuer' });
  });

  it.each<[string, Claims]>([
    ['another issuer', { iss: `${ISSUER}x` }],
    ['no issuer', { iss: undefined }],
    ['a list of issuers', { iss: [ISSUER] }],
  ])('refuses a token that names %s at once, without a check', async (_case, claims) => {
    const { issuer, verify, count } = await setUp();
    expect(verify(await issuer.token(claims))).toEqual({ kind: 'other_issuer' });
    expect(await count('refused')).toBe(1);
    expect(issuer.fetches).toBe(0);
  });

  it('drops the sets that no route uses any more', async () => {
    const { issuer, auth, keySets, verify } = await setUp();
    keySets.retain(new Set([auth.jwksUrl]));
    await eventually(() => {
      if (keySets.at(auth.jwksUrl).keys === undefined) throw new Error('no set yet');
    });
    expect(issuer.fetches).toBe(1);
    const held = keySets.at(auth.jwksUrl);
    keySets.retain(new Set([auth.jwksUrl]));
    expect(keySets.at(auth.jwksUrl)).toBe(held);
    keySets.retain(new Set());
    callerOf(await verify(await issuer.token()));
    expect(keySets.at(auth.jwksUrl)).not.toBe(held);
    expect(issuer.fetches).toBe(2);
  });
});

describe('the caller that a JWT names', () => {
  it('is the same for all tokens of a subject and differs by subject and issuer', async () => {
    const { issuer, auth, verify } = await setUp();
    const principal = async (claims: object, policy = auth) =>
      callerOf(await verify(await issuer.token({ jti: String(Math.random()), ...claims }), policy))
        .principal;
    const other = { ...auth, issuer: 'https://other.test/' };
    const first = await principal({});
    expect(first).toMatch(/^jwt:[A-Za-z0-9_-]{43}$/);
    expect(await principal({ aud: [AUDIENCE, 'x'] })).toBe(first);
    expect(await principal({ sub: 'user-2' })).not.toBe(first);
    expect(await principal({ iss: other.issuer }, other)).not.toBe(first);
  });

  it('differs for each token without a subject', async () => {
    const { issuer, verify } = await setUp();
    const [one, two] = [
      await issuer.token({ sub: undefined, jti: '1' }),
      await issuer.token({ sub: undefined, jti: '2' }),
    ];
    const caller = callerOf(await verify(one));
    expect(caller).toMatchObject({ subject: undefined, subjectField: undefined });
    expect(callerOf(await verify(two)).principal).not.toBe(caller.principal);
  });

  it('is the same for every spelling of the signature of a token without a subject', async () => {
    const { issuer, verify } = await setUp();
    const token = await issuer.token({ sub: undefined });
    const { principal } = callerOf(await verify(token));
    // 64 bytes are 85 characters and a third: the last four bits of the last one mean nothing.
    const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = digits[digits.indexOf(token.slice(-1)) + 1] ?? '';
    for (const same of [`${token}==`, token.slice(0, -1) + last]) {
      expect(callerOf(await verify(same)).principal).toBe(principal);
    }
  });

  it('is sent to the upstream in visible ASCII that can be decoded', async () => {
    const { issuer, verify } = await setUp();
    for (const sub of ['auth0|user@example.com', 'Zoë 100%', 'a\r\nX-Evil: 1', 'tab\t\u{1f600}']) {
      const { subjectField = '' } = callerOf(await verify(await issuer.token({ sub })));
      expect(subjectField).toMatch(/^[\x21-\x7e]+$/);
      expect(decodeURIComponent(subjectField)).toBe(sub);
    }
    const plain = callerOf(await verify(await issuer.token({ sub: 'auth0|user@example.com' })));
    expect(plain.subjectField).toBe('auth0|user@example.com');
  });

  it('is recorded with issuer, audience and the required claims, within limits', async () => {
    const { issuer, auth, verify } = await setUp();
    const names = ['tenant', 'groups', 'long', 'list', 'nested', 'level', '__proto__'];
    const requiredClaims = names.map((name) => ({ name, values: undefined }));
    const claims = JSON.parse('{"__proto__":"odd"}') as object;
    const token = await issuer.token({
      tenant: 'blue',
      groups: ['a', 'b'],
      long: 'x'.repeat(1000),
      level: 3,
      email: 'a@b.c',
      list: Array(200).fill('entry'),
      nested: { deep: [1] },
      ...Object.defineProperties({}, Object.getOwnPropertyDescriptors(claims)),
    });
    const policy = { ...auth, requiredClaims: requiredClaims.slice(0, 6) };
    expect(callerOf(await verify(token, policy)).claims).toEqual({
      iss: ISSUER,
      aud: AUDIENCE,
      tenant: 'blue',
      groups: ['a', 'b'],
      level: 3,
      long: 'x'.repeat(256),
      list: JSON.stringify(Array(200).fill('entry')).slice(0, 256),
      nested: '{"deep":[1]}',
    });
  });
});
