import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { startTestApi, type TestApi } from '../../test/api.ts';
import { tokenCalls } from '../../test/tokens.ts';

describe('the secrets of tokens', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi();
  });

  afterAll(async () => {
    await api.close();
  });

  const { post, make, works } = tokenCalls(() => api);

  it('cannot create a token that outlives a rotated secret with that secret', async () => {
    const body = { scopes: ['tokens:write', 'proxy'], routes: ['*'] };
    const made = await make({ name: 'leaked', ...body });
    await api.call('POST', `${made.path}/rotate`, { body: { grace_seconds: 60 } });
    const old = made.secret;
    // Otherwise its holder would keep access after the rotation, and could lock out the owner of the new secret.
    const rotated = await api.call('POST', `${made.path}/rotate`, { token: old });
    expect(rotated.status).toBe(401);
    const child = { name: 'child of leaked', environments: ['production'], scopes: ['proxy'] };
    expect((await post({ ...child, expires_at: null }, old)).status).toBe(401);
    const brief = await post(child, old);
    expect(brief.status).toBe(201);
    const graceEnd = new Date(api.clock.nowMs() + 60_000).toISOString();
    expect(brief.json.data).toMatchObject({ expires_at: graceEnd });
  });

  it('are looked up by the hash of the whole secret only', async () => {
    const made = await make({ name: 'looked up' });
    const row = await api.db
      .selectFrom('tokens')
      .select('secret_sha256')
      .where('id', '=', made.id)
      .executeTakeFirstOrThrow();
    const flipped = made.secret.slice(0, -1) + (made.secret.endsWith('A') ? 'E' : 'A');
    const guesses = [
      `gwt_${row.secret_sha256.toString('base64url')}`,
      row.secret_sha256.toString('hex'),
      flipped,
      made.secret.slice(0, -1),
      `${made.secret}A`,
      made.secret.toUpperCase(),
      made.id,
    ];
    for (const guess of guesses) expect(await works(guess)).toBe(false);
    expect(await works(made.secret)).toBe(true);
  });

  it('update last_used_at of the token within seconds', async () => {
    const made = await make({ name: 'used' });
    const lastUse = async () => (await api.call('GET', made.path)).json.data?.['last_used_at'];
    expect(await lastUse()).toBeNull();
    const usedAt = new Date(api.clock.nowMs()).toISOString();
    await works(made.secret);
    await eventually(async () => {
      api.clock.advance(5000);
      expect(await lastUse()).toBe(usedAt);
    });
  });
});
