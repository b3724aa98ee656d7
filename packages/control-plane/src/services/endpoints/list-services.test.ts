import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectError } from '../../../test/expect-error.ts';
import { startTestApi, type TestApi } from '../../../test/api.ts';

describe('GET /v1/services', () => {
  const known = { healthy: [] as string[], degraded: [] as string[], unhealthy: [] as string[] };
  const ids = new Map<string, string>();
  const idOf = (name: string) => ids.get(name) ?? '';
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi({ servicesByStatus: () => known });
    for (const [name, url] of [
      ['accounts', 'http://accounts.internal:8080'],
      ['mail', 'http://Relay.example'],
      ['orders', 'http://orders.internal'],
      ['payments', 'http://pay.example'],
      ['search', 'http://find.internal'],
    ]) {
      const body = { environment: 'production', name, url };
      const { json, text } = await api.call('POST', '/v1/services', { body });
      ids.set(String(name), json.data?.id ?? text);
    }
    known.healthy.push(idOf('orders'), idOf('search'));
    known.degraded.push(idOf('accounts'));
    known.unhealthy.push(idOf('payments'));
  });
  afterAll(() => api.close());

  async function names(query: string): Promise<readonly string[]> {
    const { status, json, text } = await api.call('GET', `/v1/services?${query}`);
    if (status !== 200) throw new Error(text);
    return (json.data as unknown as { name: string }[]).map(({ name }) => name).toSorted();
  }

  it.each([
    ['search=PAY', ['payments']],
    ['search=.internal', ['accounts', 'orders', 'search']],
    ['search=relay', ['mail']],
    ['search=%25', []],
    ['status=healthy', ['orders', 'search']],
    ['status=degraded', ['accounts']],
    ['status=unhealthy', ['payments']],
    ['status=failing', ['accounts', 'payments']],
    ['status=unknown', ['mail']],
    ['status=failing&search=internal', ['accounts']],
    ['order=status', ['accounts', 'mail', 'orders', 'payments', 'search']],
    ['order=status&status=failing&limit=1', ['payments']],
    ['environment=development', []],
  ])('%s shows %j', async (query, shown) => {
    expect(await names(query)).toEqual(shown);
  });

  it('shows those of some ids, with the other filters, and only what the token covers', async () => {
    const query = `ids=${idOf('orders')},${idOf('mail')},nothing`;
    expect(await names(query)).toEqual(['mail', 'orders']);
    expect(await names(`${query}&search=internal`)).toEqual(['orders']);
    expect(await names(`${query}&order=status`)).toEqual(['mail', 'orders']);
    expect(await names('ids=nothing')).toEqual([]);
    const scopes = ['services:read'];
    const token = await api.makeToken({ name: 'dev', environments: ['development'], scopes });
    const { json } = await api.call('GET', `/v1/services?${query}`, { token });
    expect(json.data).toEqual([]);
  });

  it('has pages in the order of the status', async () => {
    const seen: unknown[] = [];
    let cursor = '';
    for (let count = 0; count < 5; count += 1) {
      const { json } = await api.call('GET', `/v1/services?order=status&limit=2${cursor}`);
      seen.push(...(json.data as unknown as { name: string }[]).map(({ name }) => name));
      const next = (json as { next_cursor?: string | null }).next_cursor;
      if (next === null || next === undefined) break;
      cursor = `&cursor=${next}`;
      // A cursor belongs to its order.
      expectError(await api.call('GET', `/v1/services?limit=2${cursor}`), 400, 'invalid_request');
    }
    // Those that are equally bad stand in the order of their ids, which are random.
    expect(seen.slice(0, 2)).toEqual(['payments', 'accounts']);
    expect(seen.slice(2).toSorted()).toEqual(['mail', 'orders', 'search']);
  });

  const many = Array.from({ length: 201 }, () => `svc_${'0'.repeat(26)}`).join(',');
  it.each(['status=good', 'order=name', 'search=%00', `ids=${many}`])(
    'refuses %s',
    async (query) => {
      expectError(await api.call('GET', `/v1/services?${query}`), 400, 'invalid_request');
    },
  );
});
