import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  borrowConsoleWorld,
  BROWSER_START_MS,
  type ConsoleWorld,
} from './harness/console-world.ts';

const MARKUP = '<img src=x onerror="globalThis.wasHacked=true">';

describe('the requests in the console', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await borrowConsoleWorld();
    const { id } = await world.gateway.service({ name: 'payments' });
    await world.gateway.route({ name: 'charges', service_id: id });
    await world.gateway.route({
      name: 'rationed',
      rate_limit: { limit: 1, window_seconds: 86_400, per: 'route' },
    });
    await world.gateway.settled();
  }, BROWSER_START_MS);
  afterEach(() => world.closePages());
  afterAll(async () => {
    await world.close();
  });

  const open = async (path: string): Promise<Page> => (await world.visit(path)).page;

  const idOf = (answer: { readonly headers: Headers }) => answer.headers.get('x-request-id') ?? '';

  it('appear within two seconds, and lead to the timeline of their attempts', async () => {
    const page = await open('/requests');
    await page.getByRole('heading', { name: 'Requests' }).waitFor();
    await page.getByRole('link', { name: 'Requests', exact: true }).waitFor();
    const answer = await world.gateway.admin.proxy('charges/flaky/1/x', { method: 'GET' });
    expect(answer.status).toBe(200);
    const row = page.getByRole('link', { name: 'GET /v1/proxy/charges/flaky/1/x' });
    await row.waitFor({ timeout: 2000 });
    await row.click();
    await page.getByRole('heading', { name: '200 GET /flaky/1/x' }).waitFor();
    const attempts = page.getByRole('region', { name: 'Attempts' }).getByRole('listitem');
    await attempts.nth(1).waitFor();
    expect(await attempts.count()).toBe(2);
    const [first, second] = await attempts.allInnerTexts();
    expect(first).toContain(`1. ${world.gateway.upstream.url}`);
    expect(first).toContain('503');
    expect(first).toContain('Retried: GET may be repeated.');
    expect(second).toContain('200');
  });

  it('are found by an id in any text that is pasted', async () => {
    const id = idOf(await world.gateway.admin.proxy('charges/found'));
    const page = await open('/requests?environment=production');
    await page.getByRole('heading', { name: 'Requests' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.insertText('no id');
    await page.keyboard.press('Enter');
    await page.getByText('There is no request id in this text').waitFor();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(`{"error":{"request_id":"${id.toUpperCase()}"}}`);
    await page.getByRole('heading', { name: '200 POST /found' }).waitFor();
    expect(page.url()).toBe(`${world.url}/requests/${id}?environment=production`);
  });

  it('say which stage refused them, and what the quota was', async () => {
    await world.gateway.admin.proxy('rationed');
    const refused = await world.gateway.admin.proxy('rationed');
    expect(refused.status).toBe(429);
    const page = await open(`/requests/${idOf(refused)}`);
    await page.getByRole('heading', { name: '429 POST /' }).waitFor();
    const verdict = page.getByRole('region', { name: 'Verdict' });
    await verdict
      .getByText(
        'Refused at the stage quota with 429 rate_limit_exceeded: the quota of 1 request in a window was used up; nothing was sent to an upstream.',
      )
      .waitFor();
    await verdict.getByText('raise rate_limit of the route').waitFor();
    await page.getByText('The request was not sent to an upstream.').waitFor();
    await page.getByText(/^0 of 1 left/).waitFor();
  });

  const linkTo = (page: Page, path: string) =>
    page.getByRole('link', { name: `/v1/proxy/${path}`, exact: false });

  /** Types into a filter, and takes what fits best. */
  async function filterBy(page: Page, label: string, value: string): Promise<void> {
    await page.getByRole('button', { name: new RegExp(`^${label}`) }).click();
    await page.getByLabel(`Filter by ${label.toLowerCase()}`).fill(value);
    await page.locator('[data-combobox-selected]').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: `Remove the filter ${label}` }).waitFor();
  }

  it('are filtered, with what is wrong said once, in the words of the page', async () => {
    const { admin } = world.gateway;
    await admin.proxy('charges/status/404');
    await admin.proxy('charges/slow/300', { method: 'PUT' });
    await admin.proxy('rationed');
    const page = await open('/requests?route=charges');
    const rows = page.getByRole('region', { name: 'Requests' }).locator('a[data-row-link]');
    const labelled = (name: string) => page.locator(`a[data-row-link][aria-label*="${name}"]`);
    const expectOnly = async (name: string) => {
      await labelled(name).first().waitFor();
      await page
        .locator(`a[data-row-link]:not([aria-label*="${name}"])`)
        .first()
        .waitFor({ state: 'detached' });
    };
    await filterBy(page, 'Status', '404');
    await expectOnly('charges/status/404');
    await page.getByRole('button', { name: 'Remove the filter Status' }).click();
    await filterBy(page, 'Status', 'many');
    const message = page.getByText('Status must be a status such as 502, or a class such as 5xx');
    await message.waitFor();
    expect(await page.getByText(/must be/).count()).toBe(1);
    await page.getByRole('button', { name: 'Clear' }).click();
    await labelled('/v1/proxy/rationed').first().waitFor();
    await page.getByRole('button', { name: 'More filters' }).click();
    await filterBy(page, 'gRPC status', 'unavailable');
    await page.getByText('No request matches in the last 24 h').waitFor();
    await page.getByRole('button', { name: 'Remove the filter gRPC status' }).click();
    await filterBy(page, 'Took at least', '250');
    await filterBy(page, 'Method', 'PUT');
    await expectOnly('PUT /v1/proxy/charges/slow/300');
    const shared = await page.context().newPage();
    await shared.goto(page.url());
    await shared.getByRole('link', { name: 'PUT /v1/proxy/charges/slow/300' }).waitFor();
    await shared.getByRole('button', { name: 'Took at least 250 ms' }).waitFor();
    expect(await rows.count()).toBeGreaterThan(0);
  });

  it('offer the values that there are, with their counts, and keep filters as views', async () => {
    const { admin } = world.gateway;
    for (let sent = 0; sent < 3; sent += 1) await admin.proxy('charges/status/418');
    const page = await open('/requests?period=15m&method=POST&route=charges');
    await page.getByRole('link', { name: '/v1/proxy/charges/status/418' }).first().waitFor();
    await page.getByRole('button', { name: /^Status/ }).click();
    await page.getByRole('option', { name: '418 3' }).click();
    await page.waitForURL(/status=(%22)?418/);
    await page.getByText('3 requests', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByLabel('Name of the view').fill('Teapots');
    await page.keyboard.press('Enter');
    await page.goto(`${world.url}/requests`);
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('button', { name: 'Teapots', exact: true }).click();
    await page.waitForURL(/status=(%22)?418/);
    expect(page.url()).toContain('period=15m');
  });

  it('have a histogram, of which a part becomes the period', async () => {
    await world.gateway.admin.proxy('charges/drawn');
    const page = await open('/requests?period=15m');
    const bars = page.getByRole('img', { name: /over time, by class of status$/ });
    const box = await bars.boundingBox();
    if (box === null) throw new Error('the histogram is not shown');
    const middle = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.75, middle);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 2, middle, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/since=.*until=/);
    const ends = new URL(page.url()).searchParams;
    const ms = Date.parse(ends.get('until') ?? '') - Date.parse(ends.get('since') ?? '');
    expect(ms).toBeGreaterThan(2 * 60_000);
    expect(ms).toBeLessThan(6 * 60_000);
    await linkTo(page, 'charges/drawn').first().waitFor();
    await page.getByText('1 h', { exact: true }).click();
    await page.waitForURL('**/*period=1h*');
    expect(page.url()).not.toContain('since');
  });

  it('do not move under the pointer, and say how many came', async () => {
    const { admin } = world.gateway;
    await admin.proxy('charges/read');
    const page = await open('/requests');
    const row = linkTo(page, 'charges/read').first();
    await row.hover();
    const paths = () => page.locator('[data-request] [data-column="time"]').allInnerTexts();
    const before = await paths();
    await admin.proxy('charges/later/1');
    await admin.proxy('charges/later/2');
    const fresh = page.getByRole('button', { name: '2 new requests' });
    await fresh.waitFor();
    expect(await paths()).toEqual(before);
    await fresh.click();
    await linkTo(page, 'charges/later/2').first().waitFor();
  });

  it('open beside the list, and are walked through by keys', async () => {
    const { admin } = world.gateway;
    await admin.proxy('charges/walk/1');
    await admin.proxy('charges/walk/2');
    const page = await open('/requests?live=false');
    await linkTo(page, 'charges/walk/1').first().waitFor();
    await page.getByRole('region', { name: 'Requests' }).focus();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: '200 POST /walk/2' }).waitFor();
    await page.keyboard.press('j');
    const second = page.getByRole('region', { name: '200 POST /walk/1' });
    await second.waitFor();
    const shared = await page.context().newPage();
    await shared.goto(page.url());
    await shared.getByRole('region', { name: '200 POST /walk/1' }).waitFor();
    await shared.getByRole('link', { name: 'Open the page' }).click();
    await shared.getByRole('heading', { name: '200 POST /walk/1', level: 1 }).waitFor();
    await page.keyboard.press('k');
    await page.getByRole('region', { name: '200 POST /walk/2' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('region', { name: /walk/ }).waitFor({ state: 'detached' });
    expect(page.url()).not.toContain('open=');
  });

  it('lead to explain with their input in the URL, to a command without a secret, and to similar ones', async () => {
    const answer = await world.gateway.admin.proxy('charges/status/409', { method: 'PUT' });
    const page = await open(`/requests/${idOf(answer)}`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate('navigator.clipboard.readText()');
    expect(copied).toContain('--request PUT');
    expect(copied).toContain('/v1/proxy/charges/status/409');
    expect(copied).toContain('Bearer $GATEWAY_TOKEN');
    expect(copied).not.toContain(world.gateway.admin.token);
    await page.getByRole('link', { name: 'Explain now' }).click();
    await page.getByRole('region', { name: 'Explanation' }).getByText('Forwarded to').waitFor();
    const asked = new URL(page.url()).searchParams;
    expect([asked.get('method'), asked.get('target')]).toEqual(['PUT', '/status/409']);
    await page.goBack();
    await page.getByRole('link', { name: 'Find similar' }).click();
    await page.waitForURL(/route=charges/);
    await linkTo(page, 'charges/status/409').first().waitFor();
  });

  it('show in three clicks and a few seconds why one failed', async () => {
    await world.gateway.admin.proxy('charges/status/503', { method: 'POST' });
    const page = await open('/overview');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const startedAt = Date.now();
    await page.getByRole('link', { name: 'Requests', exact: true }).first().click();
    await page.getByRole('button', { name: 'Failed', exact: true }).click();
    await linkTo(page, 'charges/status/503').first().click();
    const verdict = page.getByRole('region', { name: 'Verdict' });
    await verdict
      .getByText('answered 503; not retried, because it was sent, and repeating POST could do harm')
      .waitFor();
    const seconds = (Date.now() - startedAt) / 1000;
    process.stdout.write(`find why a request failed: 3 clicks, ${seconds.toFixed(1)} s\n`);
  });

  it('stand still while the list is not live', async () => {
    const { admin } = world.gateway;
    await admin.proxy('charges/before');
    const page = await open('/requests');
    const link = (path: string) => page.getByRole('link', { name: `/v1/proxy/charges/${path}` });
    await link('before').waitFor();
    await page.getByRole('switch', { name: 'Live' }).click({ force: true });
    const live = await page.context().newPage();
    await live.goto(`${world.url}/requests`);
    await admin.proxy('charges/after');
    await live.getByRole('link', { name: '/v1/proxy/charges/after' }).waitFor();
    expect(await link('after').count()).toBe(0);
    await page.bringToFront();
    await page.getByRole('switch', { name: 'Live' }).click({ force: true });
    await link('after').waitFor({ timeout: 2000 });
  });

  it('lead to what took part', async () => {
    const answer = await world.gateway.admin.proxy('charges/part');
    const page = await open(`/requests/${idOf(answer)}`);
    for (const [name, heading] of [
      ['charges', 'charges'],
      [world.gateway.upstream.url, 'payments'],
      [/^data-plane-/, /^data-plane-/],
    ] as const) {
      await page.getByRole('main').getByRole('link', { name }).first().click();
      await page.getByRole('heading', { name: heading }).first().waitFor();
      await page.goBack();
    }
  });

  it.each([
    ['requests', '/requests'],
    ['audit events', '/audit'],
  ])('are not said to be absent while the search for %s continues', async (kind, path) => {
    const page = await open('/environments');
    const json = { data: [], next_cursor: 'older', request_id: 'req_1' };
    await page.route(`**/v1/${kind.replace(' ', '-')}?*`, (call) => call.fulfill({ json }));
    await page.goto(`${world.url}${path}?environment=production`);
    await page.getByText('The search continues on the next page.').waitFor();
    expect(await page.getByRole('button', { name: 'Next page' }).isEnabled()).toBe(true);
  });

  it('with hostile paths and headers run no script and keep the layout', async () => {
    const long = 'w'.repeat(900);
    const answer = await world.gateway.admin.proxy(
      `charges/${encodeURIComponent(MARKUP)}/${long}`,
      {
        headers: { 'x-request-id': MARKUP },
      },
    );
    for (const path of ['/requests', `/requests/${idOf(answer)}`]) {
      const page = await open(path);
      await page.setViewportSize({ width: 390, height: 900 });
      if (path !== '/requests') {
        await page.getByRole('button', { name: 'Show the whole path' }).click();
        await page.getByText(MARKUP).waitFor();
      }
      await page.getByText(long).first().waitFor();
      expect(await page.evaluate('globalThis.wasHacked')).toBeUndefined();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    }
  });
});
