import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { tokenCalls } from '../../../test/tokens.ts';

describe('the secrets of tokens', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi();
  });

  afterAll(async () => {
    await api.close();
  });

  const { make, works } = tokenCalls(() => api);

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
