import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createIdFactory } from '@gateway/shared/ids';
import fc from 'fast-check';
import { startTestApi, type TestApi } from '../../test/api.ts';
import { encodeCursor } from './list-query.ts';

const goodCursor = encodeCursor('services', 'svc_00000000000000000000000000');

describe('lists', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi();
  });

  afterAll(async () => {
    await api.close();
  });

  async function page(query: string) {
    const { status, json, text } = await api.call('GET', `/v1/services?${query}`);
    if (status !== 200) throw new Error(text);
    return { ids: (json.data ?? []).map((one) => one.id), next: json.next_cursor ?? null };
  }

  const newId = createIdFactory(() => Date.UTC(2030, 0, 1));

  const health_check = JSON.stringify({
    path: null,
    interval_ms: 5000,
    timeout_ms: 2000,
    healthy_threshold: 2,
    unhealthy_threshold: 3,
  });

  const limits = JSON.stringify({
    max_in_flight: null,
    max_connections: null,
    max_pending: null,
    adaptive: false,
  });

  /** Inserts rows directly, because the test makes thousands of them. */
  async function insert(count: number, idOf: () => string): Promise<string[]> {
    const now = new Date();
    const rows = Array.from({ length: count }, idOf).map((id) => ({
      id,
      environment: 'production',
      name: id,
      health_path: '/',
      health_check,
      limits,
      protocol: 'http1' as const,
      websocket_protocol: 'http1' as const,
      send_via: false,
      upstreams: '[]',
      created_at: now,
      updated_at: now,
    }));
    if (rows.length > 0) await api.db.insertInto('services').values(rows).execute();
    return rows.map((row) => row.id);
  }

  it('show each lasting row exactly once while others are added and removed', async () => {
    const step = fc.record({ add: fc.nat(4), remove: fc.nat(4) });
    await fc.assert(
      fc.asyncProperty(
        fc.nat(30),
        fc.integer({ min: 1, max: 9 }),
        fc.array(step, { minLength: 1, maxLength: 6 }),
        fc.infiniteStream(fc.nat()),
        async (initial, limit, steps, picks) => {
          await api.db.deleteFrom('services').execute();
          const stays = new Set(await insert(initial, () => newId('svc')));
          const ever = new Set(stays);
          const seen: string[] = [];
          let cursor = '';
          for (let turn = 0; ; turn += 1) {
            const { ids, next } = await page(`limit=${limit}${cursor}`);
            expect(ids.length).toBeLessThanOrEqual(limit);
            seen.push(...ids);
            if (next === null) break;
            expect(ids).toHaveLength(limit);
            cursor = `&cursor=${next}`;
            const { add, remove } = steps[turn % steps.length] ?? { add: 0, remove: 0 };
            if (turn < steps.length) {
              for (const id of await insert(add, () => newId('svc'))) ever.add(id);
            }
            for (let index = 0; index < remove && stays.size > 0; index += 1) {
              const [pick = 0] = picks;
              const gone = [...stays][pick % stays.size] ?? '';
              stays.delete(gone);
              await api.db.deleteFrom('services').where('id', '=', gone).execute();
            }
          }
          expect(new Set(seen).size).toBe(seen.length);
          expect(seen.toSorted()).toEqual(seen);
          for (const id of stays) expect(seen).toContain(id);
          for (const id of seen) expect(ever).toContain(id);
        },
      ),
      { numRuns: 40 },
    );
  });

  it.each(['0', '201', '-1', '1.5', 'abc', '', '1e2'])('refuse limit=%s', async (limit) => {
    const { status, json } = await api.call('GET', `/v1/services?limit=${limit}`);
    expect(status).toBe(400);
    expect(json.error).toMatchObject({
      code: 'invalid_request',
      details: [{ path: 'limit', message: 'must be a whole number from 1 to 200' }],
    });
  });

  it('have 50 rows in a page by default, and 200 at most', async () => {
    await api.db.deleteFrom('services').execute();
    await insert(205, () => newId('svc'));
    expect((await page('')).ids).toHaveLength(50);
    expect((await page('limit=200')).ids).toHaveLength(200);
  });

  it.each([
    'x',
    'bm9wZQ',
    Buffer.from('["routes","rte_00000000000000000000000000"]').toString('base64url'),
    Buffer.from('["services","svc_\\u0000"]').toString('base64url'),
    Buffer.from('["services",{"id":1}]').toString('base64url'),
    'a'.repeat(600),
    ...['!', '.', '=', '%20', '%0A', 'A'].map((junk) => goodCursor + junk),
    `%20${goodCursor}`,
    goodCursor.replace(/^(.{4})/, '$1.'),
  ])('refuse the cursor %s', async (cursor) => {
    const { status, json } = await api.call('GET', `/v1/services?cursor=${cursor}`);
    expect(status).toBe(400);
    expect(json.error?.['details']).toEqual([
      { path: 'cursor', message: 'is not a cursor of this list' },
    ]);
  });

  it('accept a cursor of the same list', async () => {
    expect((await api.call('GET', `/v1/services?cursor=${goodCursor}`)).status).toBe(200);
  });

  it('refuse an unknown parameter and a repeated one', async () => {
    const { status, json } = await api.call('GET', '/v1/services?limit=1&limit=2&sort=name');
    expect(status).toBe(400);
    expect(json.error?.['details']).toEqual([
      { path: 'limit', message: 'must be given once' },
      { path: 'sort', message: 'is not a known field' },
    ]);
  });
});
