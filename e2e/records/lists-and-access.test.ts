import { expectRefusal } from '@gateway/shared/test/refusal';
import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client, Page } from '../harness/client.ts';
import { startGateway, type Gateway } from '../harness/gateway.ts';

const startTimeoutMs = 60_000;

describe('lists of request records', () => {
  let gateway: Gateway;
  /** Request ids by route, oldest first. */
  const sent: Record<string, string[]> = {};
  let betweenMs: number;

  const list = async (query: string, client: Client = gateway.admin): Promise<Page> =>
    (await client.get(`/v1/requests?${query}`)).page();
  const idsOf = async (query: string, client?: Client): Promise<string[]> =>
    (await list(`limit=200&${query}`, client)).data.map(({ id }) => id);
  const newestFirst = (...ids: (string[] | undefined)[]) =>
    ids
      .flatMap((one) => one ?? [])
      .sort()
      .reverse();

  async function send(route: string, headers: Record<string, string> = {}): Promise<void> {
    const answer = await gateway.admin.proxy(route, { method: 'GET', headers });
    (sent[route] ??= []).push(answer.headers.get('x-request-id') ?? '');
  }

  beforeAll(async () => {
    gateway = await startGateway({ dataPlanes: 2 });
    await gateway.route({ name: 'good' });
    await gateway.route({ name: 'bad', upstreamPath: '/status/500', retry_count: 0 });
    await gateway.route({ name: 'draft', environment: 'development' });
    await gateway.settled();
    await gateway.settled('development');
    for (let count = 0; count < 5; count += 1) await send('good');
    // After the last of these, and not after the first of the following ones.
    betweenMs = Date.now() + 1;
    await eventually(() => expect(Date.now()).toBeGreaterThanOrEqual(betweenMs));
    for (let count = 0; count < 3; count += 1) await send('bad');
    await send('draft', { 'x-gateway-environment': 'development' });
    await send('missing');
    await eventually(async () => {
      for (const [route, ids] of Object.entries(sent)) {
        expect(await idsOf(`route=${route}`)).toHaveLength(ids.length);
      }
    });
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  it('are newest first, and filtered by route', async () => {
    expect(await idsOf('route=good')).toEqual(newestFirst(sent['good']));
    expect(await idsOf('route=missing')).toEqual(sent['missing']);
    expect(await idsOf('route=never')).toEqual([]);
  });

  it('are filtered by status', async () => {
    expect(await idsOf('status=500')).toEqual(newestFirst(sent['bad']));
    expect(await idsOf('status=404&route=missing')).toEqual(sent['missing']);
  });

  it('are filtered by outcome', async () => {
    expect(await idsOf('outcome=upstream_error')).toEqual(newestFirst(sent['bad']));
    expect(await idsOf('outcome=success')).toEqual(newestFirst(sent['good'], sent['draft']));
  });

  it('are filtered by environment', async () => {
    expect(await idsOf('environment=development&outcome=success')).toEqual(sent['draft']);
  });

  it('are filtered by since and until', async () => {
    const time = new Date(betweenMs).toISOString();
    expect(await idsOf(`until=${time}&outcome=success`)).toEqual(newestFirst(sent['good']));
    expect(await idsOf(`since=${time}&outcome=success`)).toEqual(sent['draft']);
  });

  it('are paged by a cursor without gaps and duplicates while more requests arrive', async () => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Page = await list(
        `route=good&limit=2${cursor === null ? '' : `&cursor=${cursor}`}`,
      );
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor;
      if (seen.length === 2) await gateway.admin.proxy('good');
    } while (cursor !== null);
    expect(seen).toEqual(newestFirst(sent['good']));
  });

  it('need the scope requests:read', async () => {
    const reader = await gateway.tokenClient({ scopes: ['requests:read'] });
    const other = await gateway.tokenClient({ scopes: ['routes:read', 'proxy'] });
    const path = `/v1/requests/${sent['good']?.[0]}`;
    expect((await reader.get(path)).status).toBe(200);
    expect((await reader.get('/v1/requests')).status).toBe(200);
    await expectRefusal(await other.get(path), 401, 'authentication_failed');
    await expectRefusal(await other.get('/v1/requests'), 401, 'authentication_failed');
  });

  it('contain only records that the environments and routes of the token cover', async () => {
    const developer = await gateway.tokenClient({ environments: ['development'] });
    expect(await idsOf('outcome=success', developer)).toEqual(sent['draft']);
    const narrow = await gateway.tokenClient({ routes: ['bad'] });
    expect(await idsOf('', narrow)).toEqual(newestFirst(sent['bad']));
    for (const client of [developer, narrow]) {
      const beyond = await client.get(`/v1/requests/${sent['good']?.[0]}`);
      await expectRefusal(beyond, 401, 'authentication_failed');
    }
    expect((await narrow.get(`/v1/requests/${sent['bad']?.[0]}`)).status).toBe(200);
  });
});
