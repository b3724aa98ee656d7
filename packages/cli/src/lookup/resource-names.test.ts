import { createClient, type GatewayClient } from '@gateway/client';
import { startTestApi, type TestApi } from '@gateway/control-plane/test/api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { resourceNames } from './resource-names.ts';

describe('names by id', () => {
  let api: TestApi;
  let client: GatewayClient;
  let ids: readonly string[];
  beforeAll(async () => {
    api = await startTestApi();
    client = createClient({ baseUrl: api.url, token: api.adminToken });
    const make = (name: string) => token({ name, scopes: ['proxy'] });
    const made = [await make('ana'), await make('ben')];
    ids = made.map(({ id }) => id);
    await api.call('DELETE', `/v1/tokens/${ids[0] ?? ''}`);
  });
  afterAll(() => api.close());

  async function token(fields: object): Promise<{ readonly id: string; readonly secret: string }> {
    const body = { environments: ['production'], ...fields };
    const { json } = await api.call('POST', '/v1/tokens', { body });
    return { id: json.data?.id ?? '', secret: json.data?.secret ?? '' };
  }

  it('are also known of tokens that were revoked, by one id or in a list of many', async () => {
    const [revoked, other] = ids;
    const nameOf = await resourceNames(client, [...ids, null]);
    expect([revoked, other, null].map(nameOf)).toEqual(['ana (revoked)', 'ben', null]);
    const more = Array.from({ length: 5 }, (_, at) => `tok_${String(at).repeat(26)}`);
    const ofMany = await resourceNames(client, [...ids, ...more]);
    expect([revoked, more[0]].map(ofMany)).toEqual(['ana (revoked)', more[0]]);
  });

  it('are known of any number of revoked tokens and deleted services, in two calls each', async () => {
    const make = async (path: string, body: object) =>
      (await api.call('POST', path, { body })).json.data?.id ?? '';
    const names = Array.from({ length: 30 }, (_, at) => `gone-${at}`);
    const tokens: string[] = [];
    for (const name of names) tokens.push((await token({ name, scopes: ['proxy'] })).id);
    for (const id of tokens) await api.call('DELETE', `/v1/tokens/${id}`);
    const service = { environment: 'production', url: 'http://127.0.0.1:9' };
    const old = await make('/v1/services', { ...service, name: 'old' });
    const kept = await make('/v1/services', { ...service, name: 'kept' });
    await api.call('DELETE', `/v1/services/${old}`);
    let calls = 0;
    const counting = createClient({
      baseUrl: api.url,
      token: api.adminToken,
      fetch(request, init) {
        calls += 1;
        return fetch(request, init);
      },
    });
    const nameOf = await resourceNames(counting, [...tokens, old, kept]);
    expect(tokens.map(nameOf)).toEqual(names.map((name) => `${name} (revoked)`));
    expect([old, kept].map(nameOf)).toEqual(['old (deleted)', 'kept']);
    expect(calls).toBe(4);
  });

  it('are ids for a token that may read neither tokens nor the audit', async () => {
    const { secret } = await token({ name: 'reader', scopes: ['requests:read'] });
    const limited = createClient({ baseUrl: api.url, token: secret });
    const nameOf = await resourceNames(limited, ids);
    expect(ids.map(nameOf)).toEqual(ids);
  });
});
