import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { accessibilityFaults } from './harness/axe.ts';
import {
  borrowConsoleWorld,
  BROWSER_START_MS,
  type ConsoleWorld,
} from './harness/console-world.ts';

describe('the configuration in the console', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await borrowConsoleWorld();
  }, BROWSER_START_MS);
  afterEach(() => world.closePages());
  afterAll(async () => {
    await world.close();
  });

  /** The newest version. A data plane may serve one a moment before it counts as published. */
  async function newest(): Promise<number> {
    const answer = await world.gateway.admin.get('/v1/environments/production');
    return Number(answer.resource()['config_version']);
  }

  const newestAfter = (version: number) =>
    eventually(async () => {
      const found = await newest();
      expect(found).toBeGreaterThan(version);
      return found;
    });

  /** The version after `before` whose difference from the one before it is a change of the route. */
  const versionThatChanged = (route: string, before: number) =>
    eventually(async () => {
      for (let version = await newest(); version > before; version -= 1) {
        const query = `from=${version - 1}&to=${version}`;
        const answer = await world.gateway.admin.get(`/v1/environments/production/diff?${query}`);
        const isIt = answer
          .page()
          .data.some(({ name, change }) => name === route && change === 'changed');
        if (isIt) return version;
      }
      throw new Error(`no version changed ${route} yet`);
    });

  it('is compared by version, and rolled back after the difference was shown', async () => {
    const { admin } = world.gateway;
    const { id } = await world.gateway.route({ name: 'charges', timeout_ms: 10_000 });
    // Otherwise one version could have both the new route and its change.
    await world.gateway.settled();
    const before = await newest();
    await admin.patch(`/v1/routes/${id}`, { timeout_ms: 50, methods: ['GET'] });
    const bad = await versionThatChanged('charges', before);
    const good = bad - 1;
    const { page } = await world.visit('/configuration');
    await page.getByRole('link', { name: `Version ${bad}`, exact: true }).click();
    await page.getByRole('heading', { name: `Version ${bad}` }).waitFor();
    const difference = page.getByRole('article', { name: 'route charges changed' });
    await difference.getByRole('deletion').filter({ hasText: '10000' }).waitFor();
    await difference.getByRole('insertion').filter({ hasText: '50' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);

    await page.goto(`${world.url}/configuration/${good}`);
    await page.getByText('What changed since').click();
    await difference.getByRole('insertion').filter({ hasText: 'GET' }).waitFor();
    await page.getByRole('button', { name: 'Roll back to this version' }).click();
    await page.getByRole('heading', { name: `Roll back to version ${good}` }).waitFor();
    await difference.getByRole('insertion').filter({ hasText: '10000' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Roll back' }).click();
    await page.getByLabel('Type production to confirm').fill('production');
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await page.getByText(`production is as in version ${good}: 1 route changed back.`).waitFor();
    const restored = await newestAfter(bad);
    const row = page.getByRole('row', { name: new RegExp(`^Version ${restored} current`) });
    await row.getByText(`Rolled back to ${good}`).waitFor();
    await row.getByText('route charges: methods, timeout_ms').waitFor();
    const route = (await admin.get(`/v1/routes/${id}`)).resource();
    expect(route).toMatchObject({ timeout_ms: 10_000, methods: null });
  });

  it('is not rolled back if another version was published after the difference was shown', async () => {
    const { admin } = world.gateway;
    const { id } = await world.gateway.route({ name: 'refunds', timeout_ms: 9000 });
    const { page } = await world.visit('/configuration/1/roll-back');
    await page.getByRole('article', { name: 'route refunds removed' }).waitFor();
    const shown = await page.getByText('This would change, from the current version').innerText();
    await page.getByRole('button', { name: 'Roll back' }).click();
    await page.getByLabel('Type production to confirm').fill('production');
    await admin.patch(`/v1/routes/${id}`, { timeout_ms: 8000 });
    await newestAfter(Number(/current version (\d+)/.exec(shown)?.[1]));
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await page.getByText('was changed meanwhile. Nothing was rolled back.').waitFor();
    expect((await admin.get(`/v1/routes/${id}`)).status).toBe(200);
  });

  it('has who changed what, with what was before and after, by token and by resource', async () => {
    const { admin } = world.gateway;
    const operator = await world.gateway.tokenClient({ name: 'operator' });
    const { id } = await world.gateway.route({ name: 'audited', timeout_ms: 7000 });
    await operator.patch(`/v1/routes/${id}`, { timeout_ms: 6000 });
    await admin.patch(`/v1/routes/${id}`, { retry_count: 0 });
    const { page } = await world.visit('/audit?type=route');
    const changes = page.getByRole('row', { name: /^route audited/ });
    const change = changes.filter({ hasText: 'operator' });
    await change.getByRole('deletion').filter({ hasText: '7000' }).waitFor();
    await change.getByRole('insertion').filter({ hasText: '6000' }).waitFor();
    await change.getByRole('button', { name: 'updated timeout_ms' }).click();
    await page.getByText(/^Call req_/).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const dialog = page.getByRole('dialog', { name: 'Revert this change of route audited?' });
    const revert = { name: 'Revert the change of route audited' };
    await changes.filter({ hasText: 'retry_count' }).getByRole('button', revert).click();
    // Another change was made since, so this one cannot be reverted alone.
    expect(await change.getByRole('button', revert).count()).toBe(0);
    await dialog.getByText('Route audited had no requests in the last hour.').waitFor();
    await dialog.getByRole('button', { name: 'Revert' }).click();
    await page.getByText('The change of route audited was reverted.').waitFor();
    expect((await admin.get(`/v1/routes/${id}`)).resource()).toMatchObject({
      timeout_ms: 6000,
      retry_count: 2,
    });
    await change.getByRole('link', { name: 'audited' }).click();
    await changes.filter({ hasText: 'created' }).waitFor();
    await eventually(async () => expect(await changes.count()).toBe(4));
    await page.getByRole('button', { name: 'Resource route audited' }).waitFor();
    await change.getByRole('link', { name: 'operator' }).click();
    await eventually(async () => expect(await changes.count()).toBe(1));
    // This list does not know of the changes since, but the API does.
    await change.getByRole('button', revert).click();
    await dialog.getByRole('button', { name: 'Revert' }).click();
    await dialog.getByRole('alert').getByText('was changed again since').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Remove the filter Who' }).click();
    await eventually(async () => expect(await changes.count()).toBe(4));
  });

  it('has changes that are found by person, resource and time, and exported', async () => {
    const { admin } = world.gateway;
    const operator = await world.gateway.tokenClient({ name: 'auditor' });
    const { id } = await world.gateway.route({ name: 'exported', timeout_ms: 7000 });
    await operator.patch(`/v1/routes/${id}`, { timeout_ms: 6000 });
    await admin.patch(`/v1/routes/${id}`, { timeout_ms: 5000 });
    const { page } = await world.visit('/audit');
    const choose = async (facet: string, text: string | undefined, option: string) => {
      await page.getByRole('button', { name: facet, exact: true }).click();
      if (text !== undefined) await page.getByLabel(`Search ${facet}`).fill(text);
      await page.getByRole('option', { name: option }).click();
    };
    await choose('Resource', 'export', 'route exported');
    await page.waitForURL(/resource=rte_/);
    const changes = page.getByRole('row', { name: /^route exported/ });
    await eventually(async () => expect(await changes.count()).toBe(3));
    await choose('Who', 'audit', 'auditor');
    await eventually(async () => expect(await changes.count()).toBe(1));
    await choose('When', undefined, 'Last hour');
    await page.waitForURL(/period=1h/);
    await changes.getByRole('deletion').filter({ hasText: '7000' }).waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    const file = await saved;
    expect(file.suggestedFilename()).toBe('audit-production.csv');
    const [head, line, ...more] = (await readFile(await file.path(), 'utf8')).split('\r\n');
    expect(head).toMatch(/^time,person,/);
    expect(line).toMatch(/,auditor,tok_.*,updated,route,exported,.*timeout_ms: 7000 -> 6000,/);
    expect(more).toEqual(['']);
    await page.getByText('1 change was exported.').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.waitForURL((url) => !url.search.includes('resource'));
  });

  it('is one of each environment, which are created, and deleted when they are empty', async () => {
    const { page } = await world.visit('/environments');
    await page.getByRole('button', { name: 'New environment' }).click();
    const form = page.getByRole('form', { name: 'New environment' });
    await form.getByLabel('Name').fill('Not A Name');
    await form.getByRole('button', { name: 'Create environment' }).click();
    await form.getByLabel('Name').and(page.locator('[aria-invalid="true"]')).waitFor();
    await form.getByLabel('Name').fill('staging');
    await form.getByRole('button', { name: 'Create environment' }).click();
    await page.getByRole('row', { name: /^staging/ }).waitFor();
    await page.getByLabel('Environment', { exact: true }).selectOption('staging');
    const { id } = await world.gateway.service({ environment: 'staging' });
    await page.reload();
    // Its routes, services and tokens.
    await page.getByRole('row', { name: /^staging .* 0 1 0 / }).waitFor();
    const remove = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Actions for staging' }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await page.getByLabel('Type staging to confirm').fill('staging');
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    };
    await remove();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await world.gateway.admin.delete(`/v1/services/${id}`);
    await remove();
    await page.getByRole('row', { name: /^staging/ }).waitFor({ state: 'detached' });
    await page.waitForURL(/environment=(?!staging)/);
  });
});
