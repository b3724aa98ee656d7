import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { accessibilityFaults } from './harness/axe.ts';
import { BROWSER_START_MS, startConsoleWorld, type ConsoleWorld } from './harness/console-world.ts';

describe('the configuration in the console', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await startConsoleWorld();
  }, BROWSER_START_MS);
  afterEach(() => world.closePages());
  afterAll(async () => {
    await world.close();
  });

  const waited = { headers: { prefer: 'wait=10' } };

  it('is compared by version, and rolled back after the difference was shown', async () => {
    const { admin } = world.gateway;
    const { id } = await world.gateway.route({ name: 'charges', timeout_ms: 10_000 });
    await world.gateway.settled();
    const before = (await admin.get('/v1/environments/production')).json() as {
      data: { config_version: number };
    };
    const good = before.data.config_version;
    await admin.patch(`/v1/routes/${id}`, { timeout_ms: 50, methods: ['GET'] }, waited);
    const { page, signIn } = await world.open('/configuration');
    await signIn();
    await page.getByRole('link', { name: `Version ${good + 1}`, exact: true }).click();
    await page.getByRole('heading', { name: `Version ${good + 1}` }).waitFor();
    const difference = page.getByRole('article', { name: 'route charges changed' });
    await difference.getByRole('deletion').filter({ hasText: '10000' }).waitFor();
    await difference.getByRole('insertion').filter({ hasText: '50' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);

    await page.goto(`${world.url}/configuration/${good}`);
    await page.getByLabel('Compare').selectOption('What changed since this version');
    await difference.getByRole('insertion').filter({ hasText: 'GET' }).waitFor();
    await page.getByRole('button', { name: 'Roll back to this version' }).click();
    await page.getByRole('heading', { name: `Roll back to version ${good}` }).waitFor();
    await difference.getByRole('insertion').filter({ hasText: '10000' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Roll back' }).click();
    await page.getByLabel('Type production to confirm').fill('production');
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await page.getByText(`production is as in version ${good}: 1 route changed back.`).waitFor();
    await page.getByRole('row', { name: new RegExp(`^Version ${good + 2}`) }).waitFor();
    const route = (await admin.get(`/v1/routes/${id}`)).resource();
    expect(route).toMatchObject({ timeout_ms: 10_000, methods: null });
  });

  it('is not rolled back if another version was published after the difference was shown', async () => {
    const { admin } = world.gateway;
    const { id } = await world.gateway.route({ name: 'refunds', timeout_ms: 9000 });
    const { page, signIn } = await world.open('/configuration/1/roll-back');
    await signIn();
    await page.getByRole('article', { name: 'route refunds removed' }).waitFor();
    await page.getByRole('button', { name: 'Roll back' }).click();
    await page.getByLabel('Type production to confirm').fill('production');
    await admin.patch(`/v1/routes/${id}`, { timeout_ms: 8000 }, waited);
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await page.getByText('was published meanwhile. Nothing was changed.').waitFor();
    expect((await admin.get(`/v1/routes/${id}`)).status).toBe(200);
  });
});
