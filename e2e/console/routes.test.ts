import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import type { Page } from 'playwright-core';
import type { Resource } from '../harness/client.ts';
import { accessibilityFaults } from './harness/axe.ts';
import {
  borrowConsoleWorld,
  BROWSER_START_MS,
  type ConsoleWorld,
} from './harness/console-world.ts';
import { unfold } from './harness/fold.ts';
import { staysAfterEachWayOut } from './harness/ways-out.ts';

const HOSTILE = `<img src=x onerror="document.title='owned'">${'x'.repeat(120)}`;

describe('the routes in the console', () => {
  let world: ConsoleWorld;
  let service: Resource;
  beforeAll(async () => {
    world = await borrowConsoleWorld();
    service = await world.gateway.service({ name: 'payments' });
  }, BROWSER_START_MS);
  afterEach(() => world.closePages());
  afterAll(async () => {
    await world.close();
  });

  const heading = (page: Page, name: string) =>
    page.getByRole('heading', { name, level: 1, exact: true }).waitFor();
  const path = ({ id }: Resource) => `/v1/routes/${id}`;

  it('are created in the form, after its errors are corrected, and then serve traffic', async () => {
    const { page } = await world.visit('/services');
    await page.getByLabel('Pages', { exact: true }).getByRole('link', { name: 'Routes' }).click();
    await page.getByRole('button', { name: 'New route' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Charges');
    await unfold(page, 'Time and retries');
    await page.getByLabel('Deadline', { exact: true }).fill('soon');
    await page.getByLabel('Repeat after these statuses').fill('502, 404');
    await page.getByRole('button', { name: 'Create route' }).click();
    const errorOf = async (label: string) => {
      const field = page.getByRole('textbox', { name: label, exact: true });
      const select = page.getByRole('combobox', { name: label, exact: true });
      const id = await field.or(select).getAttribute('aria-describedby');
      const described = (id ?? '').split(/\s+/).filter((one) => one.endsWith('-error'));
      return page.locator(`[id="${described.join()}"]`).textContent();
    };
    const banner = page.getByRole('alert');
    await banner.getByText('4 fields are wrong').waitFor();
    const focused = page.locator(':focus');
    await focused.and(page.getByLabel('Name', { exact: true })).waitFor();
    await banner.getByRole('button', { name: 'Retries, Repeat after these statuses' }).click();
    await focused.and(page.getByLabel('Repeat after these statuses')).waitFor();
    expect(await errorOf('Name')).toContain('must be 1 to 63 characters of a-z');
    expect(await errorOf('Service')).toContain('is required');
    expect(await errorOf('Deadline')).toBe(
      'must be a time from 1 ms to 5 min, such as 500ms or 1m',
    );
    expect(await errorOf('Repeat after these statuses')).toContain('item 2 must be 429 or');
    await staysAfterEachWayOut(page);
    expect(await page.getByLabel('Deadline', { exact: true }).inputValue()).toBe('soon');
    await page.getByLabel('Name', { exact: true }).fill('charges');
    await page.getByRole('combobox', { name: 'Service' }).click();
    await page.getByRole('option', { name: 'payments' }).click();
    await page.getByLabel('Deadline', { exact: true }).fill('0.5 min');
    await page.getByText('30,000 ms').waitFor();
    await page.getByLabel('Repeat after these statuses').fill('502, 503');
    await page.getByRole('button', { name: 'Create route' }).click();
    await heading(page, 'charges');
    await page.getByRole('tab', { name: 'Policies' }).click();
    await page.getByText('Up to 3 attempts within 30 s.').waitFor();
    await page.getByText('POST and PATCH are not repeated after sending.').waitFor();
    await eventually(async () => {
      expect((await world.gateway.admin.proxy('charges')).status).toBe(200);
    });
    await page.getByLabel('Pages', { exact: true }).getByRole('link', { name: 'Routes' }).click();
    await page
      .getByRole('row', { name: /charges/ })
      .getByLabel('Requests by minute')
      .waitFor();
  });

  it('get hosts, paths and headers, and are reached there', async () => {
    const { gateway } = world;
    const route = await gateway.route({ name: 'by-host', service_id: service.id });
    const { page } = await world.visit(`/routes/${route.id}/edit`);
    await page.getByRole('button', { name: 'Add hosts and paths' }).click();
    const way = page.getByRole('group', { name: 'Way 1' });
    await way
      .getByLabel('Hosts', { exact: true })
      .fill('API.console.example, *.shop.console.example');
    await way.getByRole('button', { name: 'Add a path' }).click();
    await way.getByLabel('Text of path 1').fill('/v2/../x');
    await way.getByRole('button', { name: 'Add a header' }).click();
    await way.getByLabel('Name of header 1').fill('Cookie');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').waitFor();
    await way.getByText('item 1 must be a host name in lower case').waitFor();
    await way.getByText('must not have a segment ..').waitFor();
    await way.getByText('must not be a field that frames').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await way
      .getByLabel('Hosts', { exact: true })
      .fill('api.console.example, *.shop.console.example');
    await way.getByLabel('Path 1', { exact: true }).selectOption('Is');
    await way.getByLabel('Text of path 1').fill('/v2/status');
    await way.getByRole('button', { name: 'Remove header 1' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await heading(page, 'by-host');
    await page.getByText('api.console.example/v2/status').waitFor();
    await page.getByText('/v1/proxy/by-host').waitFor();
    expect((await gateway.admin.get(path(route))).resource()).toMatchObject({
      match: [
        {
          hosts: ['api.console.example', '*.shop.console.example'],
          paths: [{ exact: '/v2/status' }],
          headers: [],
        },
      ],
    });
    await page.getByLabel('Pages', { exact: true }).getByRole('link', { name: 'Routes' }).click();
    // Narrow windows leave the column out.
    await page.setViewportSize({ width: 1440, height: 900 });
    const row = page.getByRole('row', { name: /by-host/ });
    await row.getByText('api.console.example/v2/status').waitFor();
    await row.getByText('and 1 more').waitFor();

    const second = { name: 'by-same-host', match: [{ hosts: ['other.console.example'] }] };
    const other = await gateway.route({ ...second, service_id: service.id });
    await world.visit(`/routes/${other.id}/edit`);
    await page.getByLabel('Hosts', { exact: true }).fill('api.console.example');
    await page.getByRole('button', { name: 'Add a path' }).click();
    await page.getByLabel('Path 1', { exact: true }).selectOption('Is');
    await page.getByLabel('Text of path 1').fill('/v2/status');
    await page.getByRole('button', { name: 'Save' }).click();
    const question = page.getByRole('dialog', {
      name: 'Remove hosts or paths of route by-same-host?',
    });
    await question.getByText('Requests to other.console.example/… no longer reach').waitFor();
    await question.getByRole('button', { name: 'Remove' }).click();
    const refused = page.getByRole('group', { name: 'Way 1' });
    await refused.getByText('is a match of another route too').waitFor();
  });

  it('are found by a part of the name, the status and the service, in a URL to share', async () => {
    await world.gateway.route({ name: 'found-one', service_id: service.id, status: 'disabled' });
    await world.gateway.route({ name: 'found-two' });
    const { page } = await world.visit('/routes');
    await heading(page, 'Routes');
    await page.keyboard.press('/');
    await page.keyboard.type('OUND-');
    await page.getByRole('link', { name: 'found-two' }).waitFor();
    await page.waitForURL('**/routes?search=OUND-');
    await eventually(async () => {
      expect(await page.getByRole('link', { name: 'found-' }).count()).toBe(2);
      expect(await page.getByRole('row').count()).toBe(3);
    });
    // In a field they are letters, and beside it they lead to rows.
    await page.keyboard.press('j');
    await page.waitForURL('**/routes?search=OUND-j');
    await page.getByText('No route matches').waitFor();
    await page.keyboard.press('Backspace');
    await page.getByRole('link', { name: 'found-two' }).waitFor();
    await page.getByRole('heading', { name: 'Routes' }).click();
    for (const key of ['j', 'j', 'j', 'k']) await page.keyboard.press(key);
    await page.getByRole('link', { name: 'found-one' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('o');
    await heading(page, 'found-one');
    await page.goBack();
    await page.getByRole('button', { name: 'Status' }).click();
    await page.getByRole('option', { name: 'Disabled' }).click();
    await page.waitForURL('**/routes?search=OUND-&status=disabled');
    await page.getByRole('link', { name: 'found-two' }).waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('link', { name: 'found-one' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await page.getByLabel('Search routes').fill('nothing-like-it');
    await page.getByText('No route matches').waitFor();
  });

  it('show what changed meanwhile, and keep both changes', async () => {
    const { gateway } = world;
    const route = await gateway.route({ name: 'contested', timeout_ms: 1000 });
    const { page } = await world.visit(`/routes/${route.id}/edit#timeout_ms`);
    await page.getByLabel('Retries', { exact: true }).fill('5');
    await page.getByLabel('Deadline', { exact: true }).fill('4 s');
    const meanwhile = { timeout_ms: 3000, rate_limit: { per: 'token' } };
    await gateway.admin.patch(path(route), meanwhile);
    await page.getByRole('button', { name: 'Save' }).click();
    const table = page.getByRole('table', { name: 'Changed meanwhile' });
    await table.waitFor();
    await page.getByText('admin changed this just now').waitFor();
    // The button is at the end of a long form.
    const top = await page.evaluate<number>('document.activeElement.getBoundingClientRect().top');
    expect(top).toBeGreaterThanOrEqual(56);
    expect((await table.boundingBox())?.y).toBeLessThan(600);
    await table.getByRole('row', { name: 'Deadline 1 s 3 s 4 s' }).waitFor();
    await table
      .getByRole('row', { name: 'Quota, Counted for All callers together Each caller as now' })
      .waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect((await gateway.admin.get(path(route))).resource()).toMatchObject({ timeout_ms: 3000 });
    await page.getByRole('button', { name: 'Keep my changes' }).click();
    expect(await page.getByLabel('Counted for').inputValue()).toBe('token');
    await page.getByRole('button', { name: 'Save' }).click();
    await heading(page, 'contested');
    expect((await gateway.admin.get(path(route))).resource()).toMatchObject({
      timeout_ms: 4000,
      retry_count: 5,
      rate_limit: { per: 'token' },
    });
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Route contested is as it was before.').waitFor();
    expect((await gateway.admin.get(path(route))).resource()).toMatchObject({
      timeout_ms: 3000,
      retry_count: 2,
      rate_limit: { per: 'token' },
    });
  });

  it('are disabled, enabled, and deleted by their name', async () => {
    const { gateway } = world;
    const hosts = Array.from({ length: 6 }, (_, at) => `h${at}.doomed.example`);
    const route = await gateway.route({ name: 'doomed', match: [{ hosts }] });
    const { page } = await world.visit(`/routes/${route.id}`);
    const status = async () => (await gateway.admin.get(path(route))).resource()['status'];
    const question = page.getByRole('dialog', { name: 'Disable route doomed?' });
    await page.getByRole('button', { name: 'Disable' }).click();
    await question.getByText('Route doomed had no requests in the last hour.').waitFor();
    await question.getByText('Requests to these 6 addresses no longer reach doomed').waitFor();
    expect(await question.getByRole('listitem').count()).toBe(3);
    await question.getByRole('button', { name: 'and 3 more addresses' }).click();
    expect(await question.getByRole('listitem').allTextContents()).toEqual(
      hosts.map((host) => `${host}/…`),
    );
    expect(await accessibilityFaults(page)).toEqual([]);
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await status()).toBe('active');
    await page.getByRole('button', { name: 'Disable' }).click();
    await question.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('Requests get 404.').waitFor();
    expect(await status()).toBe('disabled');
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Route doomed is active again.').waitFor();
    expect(await status()).toBe('active');
    await page.getByRole('button', { name: 'Disable' }).click();
    await question.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('Requests get 404.').waitFor();
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.getByText('Requests get 404.').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete route doomed?' });
    expect(await dialog.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Type doomed to confirm').fill('doomed');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await heading(page, 'Routes');
    expect((await gateway.admin.get(path(route))).status).toBe(404);
    await page.goto(`${world.url}/routes/${route.id}`);
    await page.getByRole('alert').getByText('There is no route with this id.').waitFor();
  });

  it('render hostile text as text', async () => {
    const { gateway } = world;
    const auth = {
      type: 'jwt',
      issuer: HOSTILE,
      audience: [HOSTILE],
      jwks_url: 'http://127.0.0.1:9/keys',
      required_claims: { [HOSTILE]: HOSTILE },
    };
    const route = await gateway.route({ name: 'r'.repeat(63), auth });
    const { page, messages } = await world.visit(`/routes/${route.id}`);
    await heading(page, 'r'.repeat(63));
    const widths = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    for (const address of [
      `/routes/${route.id}`,
      `/routes/${route.id}/edit`,
      `/routes?search=${encodeURIComponent(HOSTILE)}`,
      '/routes?search=rrrr',
    ]) {
      await page.setViewportSize({ width: 390, height: 900 });
      await page.goto(world.url + address);
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(await page.evaluate<number>(widths)).toBe(0);
      expect(await page.locator('img').count()).toBe(0);
      expect(await page.title()).not.toBe('owned');
    }
    expect(messages.filter((one) => !one.includes('status of 401'))).toEqual([]);
  });

  it('explain what each stage decides about a request that is typed', async () => {
    const { gateway } = world;
    const route = await gateway.route({ name: 'explained', methods: ['GET', 'POST'] });
    await gateway.settled();
    const { page } = await world.visit(`/routes/${route.id}`);
    await page.getByRole('tab', { name: 'Explain' }).click();
    await page.waitForURL('**/*tab=explain');
    const explanation = page.getByRole('region', { name: 'Explanation' });
    await page.getByRole('button', { name: 'Explain', exact: true }).click();
    await explanation.getByText('Forwarded to an upstream').waitFor();
    await page.getByLabel('Path and query').fill('17');
    await page.getByRole('radio', { name: 'Nobody' }).click();
    await page.getByRole('button', { name: 'Explain', exact: true }).click();
    await page.getByRole('alert').getByText('1 field is wrong').waitFor();
    await page.getByRole('alert').getByRole('button', { name: 'Path and query' }).waitFor();
    await page.getByLabel('Path and query').fill(`/17?q=${encodeURIComponent(HOSTILE)}`);
    await page.getByRole('button', { name: 'Explain', exact: true }).click();
    await explanation.getByText('Refused with 401 authentication_failed').waitFor();
    await explanation.getByRole('listitem').getByText('authenticate refuse').waitFor();
    await explanation.getByRole('listitem').getByText('quota not reached').waitFor();
    await page.getByRole('radio', { name: 'A token' }).click();
    await page.getByRole('combobox', { name: 'Token' }).click();
    await page.getByRole('option', { name: 'admin', exact: true }).click();
    await page.getByLabel('Method').selectOption('POST');
    await page.getByLabel('Headers', { exact: true }).fill('Idempotency-Key: order-17');
    await page.getByLabel('Body', { exact: true }).fill('{}');
    await page.getByRole('button', { name: 'Explain', exact: true }).click();
    await explanation.getByText('Forwarded to an upstream').waitFor();
    await explanation.getByText('The key is free.').waitFor();
    await explanation.getByRole('row', { name: new RegExp(gateway.upstream.url) }).waitFor();
    expect(await page.locator('img').count()).toBe(0);
  });

  it('can only be read with a token that may only read', async () => {
    const { gateway } = world;
    const route = await gateway.route({ name: 'readable' });
    const { token } = await gateway.tokenClient({ name: 'reader', scopes: ['routes:read'] });
    const { page } = await world.visit(`/routes/${route.id}`, token);
    for (const name of ['Edit', 'Disable']) {
      const button = page.getByRole('button', { name });
      expect(await button.getAttribute('aria-disabled')).toBe('true');
    }
    await page.getByText('Your token lacks the scope requests:read.').waitFor();
    await page.getByRole('button', { name: 'More actions' }).click();
    const remove = page.getByRole('menuitem', { name: 'Delete' });
    expect(await remove.isDisabled()).toBe(true);
    await page.getByText('Your token lacks the scope routes:write.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Pages', { exact: true }).getByRole('link', { name: 'Routes' }).click();
    const create = page.getByRole('button', { name: 'New route' });
    expect(await create.getAttribute('aria-disabled')).toBe('true');
    await page.getByRole('link', { name: 'readable' }).waitFor();
    expect(await page.getByText('Requests, 1 h').count()).toBe(0);
  });
});
