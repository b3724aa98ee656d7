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

  it('are filtered, with what is wrong said at the filter', async () => {
    const { admin } = world.gateway;
    await admin.proxy('charges/status/404');
    await admin.proxy('charges/slow/300', { method: 'PUT' });
    const page = await open('/requests?route=charges');
    const rows = page.getByRole('region', { name: 'Requests' }).getByRole('link');
    const expectOnly = async (name: string) => {
      await rows.filter({ hasText: name }).first().waitFor();
      await rows.filter({ hasNotText: name }).first().waitFor({ state: 'detached' });
    };
    await page.getByLabel('Status', { exact: true }).fill('404');
    await page.getByLabel('Status', { exact: true }).press('Enter');
    await expectOnly('charges/status/404');
    await page.getByLabel('Status', { exact: true }).fill('many');
    await page.getByLabel('Outcome').focus();
    await page.getByText(/^must be/).waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await rows.filter({ hasText: '/v1/proxy/rationed' }).first().waitFor();
    await page.getByRole('button', { name: 'More filters' }).click();
    await page.getByLabel('gRPC status').fill('unavailabl');
    await page.getByLabel('Method').focus();
    await page.getByText(/^must be/).waitFor();
    await page.getByLabel('gRPC status').fill('unavailable');
    await page.getByLabel('Method').focus();
    await rows.first().waitFor({ state: 'detached' });
    await page.getByLabel('gRPC status').fill('');
    await page.getByLabel('Took at least').fill('250');
    await page.getByLabel('Method').fill('PUT');
    await page.getByLabel('Method').press('Enter');
    await expectOnly('PUT /v1/proxy/charges/slow/300');
    const shared = await page.context().newPage();
    await shared.goto(page.url());
    await shared.getByRole('link', { name: 'PUT /v1/proxy/charges/slow/300' }).waitFor();
    expect(await shared.getByLabel('Took at least').inputValue()).toBe('250');
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
      [/^data-plane-/, 'Data planes'],
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
