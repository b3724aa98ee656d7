import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { accessibilityFaults } from './harness/axe.ts';
import { BROWSER_START_MS, startConsoleWorld, type ConsoleWorld } from './harness/console-world.ts';

describe('what a token may not do in the console', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await startConsoleWorld();
  }, BROWSER_START_MS);
  afterEach(() => world.closePages());
  afterAll(async () => {
    await world.close();
  });

  const tokenOf = async (name: string, fields: object): Promise<string> =>
    (await world.gateway.tokenClient({ name, ...fields })).token;

  it('is said in the navigation, on the page, and at buttons, and no call is made for it', async () => {
    const token = await tokenOf('reader', { scopes: ['routes:read'] });
    const { page, signIn, requested } = await world.open('/tokens');
    await signIn(token);
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
    const first = await world.open('/configuration/1/roll-back');
    await first.signIn(half);
    const button = first.page.getByRole('button', { name: 'Roll back' });
    await button.hover();
    const reason = 'Your token lacks the scopes services:write and routes:write.';
    await first.page.getByRole('tooltip', { name: reason }).waitFor();
    const some = await tokenOf('some', { routes: ['charges'] });
    const second = await world.open('/configuration/1/roll-back');
    await second.signIn(some);
    const other = second.page.getByRole('button', { name: 'Roll back' });
    await other.hover();
    await second.page.getByRole('tooltip', { name: /needs a token for all routes/ }).waitFor();
    expect(await other.getAttribute('aria-disabled')).toBe('true');
  });

  it('leaves no doubt about the environment of a resource, and another one shows its list', async () => {
    const { gateway } = world;
    const route = await gateway.route({ name: 'tried', environment: 'development' });
    const { page, signIn } = await world.open(`/routes/${route.id}?environment=production`);
    await signIn();
    await page.getByRole('heading', { name: 'tried' }).waitFor();
    await page.waitForURL(/environment=development/);
    const select = page.getByLabel('Environment', { exact: true });
    expect(await select.inputValue()).toBe('development');
    await select.selectOption('production');
    await page.getByRole('heading', { name: 'Routes' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/routes');
  });
});
