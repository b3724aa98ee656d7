import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { faultsInAllLooks } from './harness/axe.ts';
import {
  borrowConsoleWorld,
  BROWSER_START_MS,
  type ConsoleWorld,
} from './harness/console-world.ts';

const LIMIT = 4;

describe('callers in the console', () => {
  let world: ConsoleWorld;
  let route = '';
  let nearId = '';
  beforeAll(async () => {
    world = await borrowConsoleWorld();
    const { gateway } = world;
    const rate_limit = { limit: LIMIT, window_seconds: 86_400, per: 'token' };
    const made = await gateway.route({ rate_limit });
    route = String(made['name']);
    const near = await gateway.tokenClient({ name: 'near-its-quota' });
    const over = await gateway.tokenClient({ name: 'over-its-quota' });
    nearId = near.tokenId;
    await gateway.settled();
    for (let sent = 1; sent < LIMIT; sent += 1) await near.proxy(route);
    for (let sent = 0; sent < LIMIT + 2; sent += 1) await over.proxy(route);
    await counted(2 * LIMIT + 1);
  }, BROWSER_START_MS);
  afterEach(() => world.closePages());
  afterAll(() => world.close());

  /** Resolves when the records of so many requests can be read. */
  async function counted(requests: number): Promise<void> {
    await eventually(async () => {
      const answer = await world.gateway.admin.get(`/v1/stats/callers?route=${route}`);
      expect(answer.resource()['requests']).toBe(requests);
    });
  }

  it('shows who is near a quota, who is above it, and leads to their requests', async () => {
    const { page } = await world.visit(`/callers?route=${route}`);
    await page.getByRole('heading', { name: `Callers of ${route}` }).waitFor();
    const rows = page.getByRole('region', { name: 'Callers' }).getByRole('row');
    await page.getByRole('button', { name: 'Quota', exact: true }).click();
    await page.getByText('100 %').waitFor();
    const texts = await rows.allInnerTexts();
    expect(texts[1]).toContain('over-its-quota');
    expect(texts[1]).toContain('100 %');
    expect(texts[2]).toContain('near-its-quota');
    expect(texts[2]).toContain('75 %');
    expect(page.url()).toContain('order=quota_used');
    await rows.nth(1).getByRole('link', { name: '2', exact: true }).click();
    await page.waitForURL((url) => url.searchParams.get('error') === 'rate_limit_exceeded');
    await page.goBack();
    await page.getByText('100 %').waitFor();
    expect(await faultsInAllLooks(page)).toEqual([]);
    await page.getByRole('link', { name: 'near-its-quota' }).click();
    await page.waitForURL((url) => url.searchParams.get('token') === nearId);
  });

  it('says so if nobody sent a request', async () => {
    const { page } = await world.visit('/callers?route=no-such-route');
    await page.getByText('No requests').waitFor();
  });
});
