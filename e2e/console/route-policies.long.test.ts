import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { Resource } from '../harness/client.ts';
import { accessibilityFaults } from './harness/axe.ts';
import {
  borrowConsoleWorld,
  BROWSER_START_MS,
  type ConsoleWorld,
} from './harness/console-world.ts';

describe('the policies of a route in its form', () => {
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

  it('lead sessions to one upstream, and keep what was typed while that is off', async () => {
    const { gateway } = world;
    const route = await gateway.route({ name: 'sessions', service_id: service.id });
    const { page } = await world.visit(`/routes/${route.id}/edit#affinity`);
    const isOn = page.getByRole('switch', { name: 'Sessions' });
    await isOn.click();
    await page.getByLabel('By', { exact: true }).selectOption('A header of the caller');
    await page.getByLabel('Cookie', { exact: true }).fill('a b');
    await page.getByRole('button', { name: 'Save' }).click();
    const wrong = 'must be the name of a cookie; must be null with by header';
    await page.getByText(wrong, { exact: true }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByLabel('Cookie', { exact: true }).fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('is required with by header', { exact: true }).waitFor();
    await page.getByLabel('Header', { exact: true }).fill('X-Tenant');
    await isOn.click();
    await isOn.click();
    await page.getByRole('button', { name: 'Save' }).click();
    await heading(page, 'sessions');
    await page.getByRole('tab', { name: 'Policies' }).click();
    await page.getByText('Requests with the same X-Tenant go to the same upstream.').waitFor();
    const affinity = { by: 'header', header: 'X-Tenant', cookie: null, retry_elsewhere: false };
    expect((await gateway.admin.get(path(route))).resource()).toMatchObject({ affinity });
    await world.visit(`/routes/${route.id}/edit#affinity`);
    await isOn.click();
    await page.getByRole('button', { name: 'Save' }).click();
    await heading(page, 'sessions');
    expect((await gateway.admin.get(path(route))).resource()).toMatchObject({ affinity: null });
  });

  it('rewrite what the upstream gets, and keep what was typed while it is off', async () => {
    const { gateway } = world;
    const route = await gateway.route({ name: 'rewriting', service_id: service.id });
    const { page } = await world.visit(`/routes/${route.id}/edit#rewrite`);
    const rewrites = page.getByLabel('Rewrite requests and responses');
    await rewrites.check();
    await page.getByLabel('Add prefix').fill('/v3/..');
    await page.getByLabel('Host', { exact: true }).fill('preserve');
    const headers = page.getByRole('group', { name: 'Set request headers' });
    await headers.getByRole('button', { name: 'Add a request header' }).click();
    await headers.getByLabel('Name 1').fill('Cookie');
    await headers.getByLabel('Value 1').fill('{route.name}');
    await page.getByLabel('Remove response headers').fill('Server, X-Powered-By');
    await rewrites.uncheck();
    await rewrites.check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').waitFor();
    const refusal = 'must not contain a segment that a server could read as ..';
    await page.getByText(refusal, { exact: true }).waitFor();
    await headers.getByText('must not be Cookie').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByLabel('Add prefix').fill('/v3');
    await headers.getByLabel('Name 1').fill('X-Route');
    await page.getByRole('button', { name: 'Save' }).click();
    await heading(page, 'rewriting');
    const none = { set: [], add: [], remove: [] };
    expect((await gateway.admin.get(path(route))).resource()).toMatchObject({
      rewrite: {
        strip_prefix: null,
        add_prefix: '/v3',
        path: null,
        host: 'preserve',
        query: { set: [], remove: [] },
        request_headers: { ...none, set: [{ name: 'X-Route', value: '{route.name}' }] },
        response_headers: { ...none, remove: ['Server', 'X-Powered-By'] },
      },
    });
    await world.visit(`/routes/${route.id}/edit#rewrite`);
    await page.getByLabel('Rewrite requests and responses').uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await heading(page, 'rewriting');
    expect((await gateway.admin.get(path(route))).resource()).toMatchObject({ rewrite: null });
  });

  it('say which pages may call a route, with the problem of an origin at its field', async () => {
    const { gateway } = world;
    const route = await gateway.route({ name: 'by-pages', service_id: service.id });
    const { page } = await world.visit(`/routes/${route.id}/edit#cors`);
    const section = page.getByRole('switch', { name: 'Browsers (CORS)' });
    await section.click();
    await page
      .getByRole('textbox', { name: 'Origins' })
      .fill('https://app.console.example, https://App.example');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('item 2 must be an origin in the form').waitFor();
    await page
      .getByRole('textbox', { name: 'Origins' })
      .fill('https://app.console.example, http://localhost:3000');
    await page.getByLabel('Allow cookies').click({ force: true });
    await page.getByRole('button', { name: 'Save' }).click();
    await heading(page, 'by-pages');
    const cors = {
      origins: ['https://app.console.example', 'http://localhost:3000'],
      methods: null,
      headers: ['*'],
      expose: [],
      credentials: true,
      max_age_s: 600,
    };
    expect((await gateway.admin.get(path(route))).resource()).toMatchObject({ cors });
    await world.visit(`/routes/${route.id}/edit#cors`);
    expect(await page.getByRole('textbox', { name: 'Origins' }).inputValue()).toBe(
      cors.origins.join(', '),
    );
    await page.getByLabel('Keep preflights').fill('60');
    await page.getByRole('button', { name: 'Save' }).click();
    await heading(page, 'by-pages');
    expect((await gateway.admin.get(path(route))).resource()).toMatchObject({
      cors: { ...cors, max_age_s: 60 },
    });
    await world.visit(`/routes/${route.id}/edit#cors`);
    await section.click();
    await page.getByRole('button', { name: 'Save' }).click();
    await heading(page, 'by-pages');
    expect((await gateway.admin.get(path(route))).resource()).toMatchObject({ cors: null });
  });
});
