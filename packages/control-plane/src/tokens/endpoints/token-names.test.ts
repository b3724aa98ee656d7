import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectError } from '../../../test/expect-error.ts';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { tokenCalls } from '../../../test/tokens.ts';

describe('the name of a token', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi();
  });

  afterAll(async () => {
    await api.close();
  });

  const { post, make } = tokenCalls(() => api);
  const create = (name: string, ...environments: string[]) =>
    post({ name, environments, scopes: ['proxy'] });

  it.each([
    ['the same environment', ['production'], ['production'], 409],
    ['one of its environments', ['production', 'development'], ['development'], 409],
    ['all environments', ['*'], ['*'], 409],
    ['another environment', ['production'], ['development'], 201],
    ['all environments and of one', ['*'], ['production'], 201],
  ])('of a token of %s: %j, then %j is %i', async (what, first, second, status) => {
    expect((await create(what, ...first)).status).toBe(201);
    const answer = await create(what, ...second);
    expect(answer.status).toBe(status);
    if (status === 409) expectError(answer, 409, 'name_conflict');
  });

  it('says nothing about tokens of other environments', async () => {
    await create('secret project', 'production');
    const rights = { environments: ['development'], routes: ['*'] };
    const { secret } = await make({
      name: 'guesser',
      ...rights,
      scopes: ['tokens:write', 'proxy'],
    });
    const guess = { name: 'secret project', environments: ['development'], scopes: ['proxy'] };
    const free = { ...guess, name: 'no such project' };
    expect((await post(guess, secret)).status).toBe(201);
    expect((await post(free, secret)).status).toBe(201);
  });

  it('is free again after a revocation and after a change of the name', async () => {
    const revoked = await make({ name: 'revoked' });
    await api.call('DELETE', revoked.path);
    expect((await create('revoked', 'production')).status).toBe(201);
    const renamed = await make({ name: 'renamed' });
    await api.call('PATCH', renamed.path, { body: { name: 'new name' } });
    expect((await create('renamed', 'production')).status).toBe(201);
    expect((await create('new name', 'production')).status).toBe(409);
  });

  it('goes to one of many calls at once', async () => {
    const calls = Array.from({ length: 20 }, (_, index) =>
      create(
        'wanted',
        ...(index % 2 ? ['production', 'development'] : ['development', 'production']),
      ),
    );
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
  });
});
