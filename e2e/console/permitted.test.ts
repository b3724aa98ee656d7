import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { accessibilityFaults } from './harness/axe.ts';
import {
  borrowConsoleWorld,
  BROWSER_START_MS,
  type ConsoleWorld,
} from './harness/console-world.ts';

describe('what a token may not do in the console', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await borrowConsoleWorld();
  }, BROWSER_START_MS);
  afterEach(() => world.closePages());
  afterAll(async () => {
    await world.close();
  });

  const tokenOf = async (name: string, fields: object): Promise<string> =>
    (await world.gateway.tokenClient({ name, ...fields })).token;

  it('is said in the navigation, on the page, and at buttons, and no call is made for it', async () => {
    const token = await tokenOf('reader', { scopes: ['routes:read'] });
    const { page, requested } = await world.visit('/tokens', token);
    await page.getByRole('heading', { name: 'Not permitted' }).waitFor();
    await page.getByText('Your token lacks the scope tokens:read.').waitFor();
    expect(requested.filter((url) => url.includes('/v1/tokens'))).toEqual([]);
    const services = page.getByRole('link', { name: 'Services', exact: true });
    await services.hover();
    await page
      .getByRole('tooltip', { name: 'Your token lacks the scope services:read.' })
      .waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'Routes', exact: true }).click();
    const create = page.getByRole('button', { name: 'New route' });
    expect(await create.getAttribute('aria-disabled')).toBe('true');
    await create.hover();
    await page.getByRole('tooltip', { name: 'Your token lacks the scope routes:write.' }).waitFor();
    await page.goto(`${world.url}/routes/new`);
    await page.getByText('Your token lacks the scope routes:write.').waitFor();
  });

  it('includes a roll-back without the scopes for services and routes, or without all routes', async () => {
    const { gateway } = world;
    await gateway.settled();
    const half = await tokenOf('half', { scopes: ['config:write'] });
    const { page } = await world.visit('/configuration/1/roll-back', half);
    const button = page.getByRole('button', { name: 'Roll back' });
    await button.hover();
    const reason = 'Your token lacks the scopes services:write and routes:write.';
    await page.getByRole('tooltip', { name: reason }).waitFor();
    const some = await tokenOf('some', { routes: ['charges'] });
    await world.visit('/configuration/1/roll-back', some);
    await button.hover();
    await page.getByRole('tooltip', { name: /needs a token for all routes/ }).waitFor();
    expect(await button.getAttribute('aria-disabled')).toBe('true');
  });

  it('leaves no doubt about the environment of a resource, and another one shows its list', async () => {
    const { gateway } = world;
    const route = await gateway.route({ name: 'tried', environment: 'development' });
    const { page } = await world.visit(`/routes/${route.id}?environment=production`);
    await page.getByRole('heading', { name: 'tried' }).waitFor();
    await page.waitForURL(/environment=development/);
    const select = page.getByLabel('Environment', { exact: true });
    expect(await select.inputValue()).toBe('development');
    await select.selectOption('production');
    await page.getByRole('heading', { name: 'Routes' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/routes');
  });
});
