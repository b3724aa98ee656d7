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
import { startJourney } from './harness/journey.ts';

describe('journeys through the console', () => {
  let world: ConsoleWorld;
  let stable: Resource;
  let canary: Resource;
  beforeAll(async () => {
    world = await borrowConsoleWorld();
    stable = await world.gateway.service({ name: 'payments' });
    canary = await world.gateway.service({ name: 'payments-next' });
  }, BROWSER_START_MS);
  afterEach(() => world.closePages());
  afterAll(async () => {
    await world.close();
  });

  async function splitRoute(name: string): Promise<Resource> {
    const route = await world.gateway.admin.create('/v1/routes', {
      name,
      versions: [
        { name: 'stable', service_id: stable.id, weight: 100 },
        { name: 'canary', service_id: canary.id, weight: 0 },
      ],
    });
    await world.gateway.settled();
    return route;
  }

  const read = async ({ id }: Resource) =>
    (await world.gateway.admin.get(`/v1/routes/${id}`)).resource();
  const weightsOf = async (route: Resource) => {
    const versions = (await read(route))['versions'] as { weight: number }[];
    return versions.map(({ weight }) => weight);
  };

  async function versionOfNext(route: string): Promise<unknown> {
    const { headers } = await world.gateway.admin.proxy(route);
    return eventually(async () => {
      const id = headers.get('x-request-id') ?? '';
      const answer = await world.gateway.admin.get(`/v1/requests/${id}`);
      expect(answer.status).toBe(200);
      return answer.resource()['route_version'];
    });
  }

  it('shift a canary step by step, judge it, and take it back', async () => {
    const route = await splitRoute('shifted');
    const { page } = await world.visit('/routes');
    const journey = startJourney(page, 'shift a canary and take it back');
    const row = page.getByRole('row', { name: /^shifted/ });
    await journey.click(row.getByRole('link', { name: 'stable 100 % canary 0 %' }));
    const panel = page.getByRole('region', { name: 'Traffic split' });
    await journey.click(panel.getByRole('button', { name: '25 %' }));
    await journey.click(panel.getByRole('button', { name: 'Save' }));
    await page.getByText('The weights of shifted were saved.').waitFor();
    expect(await weightsOf(route)).toEqual([75, 25]);
    await journey.click(panel.getByRole('button', { name: 'Roll back to stable' }));
    const back = page.getByRole('dialog', { name: 'Roll shifted back to stable?' });
    await back.getByText('stable gets all requests, canary none.').waitFor();
    await journey.click(back.getByRole('button', { name: 'Roll back' }));
    await panel.getByRole('button', { name: 'Roll back to stable' }).waitFor({ state: 'detached' });
    expect(await weightsOf(route)).toEqual([100, 0]);
    expect(journey.end().actions).toBe(5);
  });

  it('give all requests to the new version, with the numbers of both, and undo it', async () => {
    const route = await splitRoute('promoted');
    await world.gateway.admin.proxy('promoted');
    const { page } = await world.visit(`/routes/${route.id}?tab=versions`);
    const panel = page.getByRole('region', { name: 'Traffic split' });
    const table = page.getByRole('table').filter({ hasText: 'Requests/s' });
    await table.getByRole('row', { name: /^stable payments 100 % 100 % \(1\)/ }).waitFor();
    await panel.getByRole('button', { name: 'Promote canary' }).click();
    const question = page.getByRole('dialog', { name: 'Promote canary?' });
    await question.getByText('Route promoted had 1 request in the last hour.').waitFor();
    await question.getByRole('row', { name: /^stable 1 0 %/ }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await question.getByRole('button', { name: 'Promote' }).click();
    await question.waitFor({ state: 'detached' });
    expect(await weightsOf(route)).toEqual([0, 100]);
    await eventually(async () => expect(await versionOfNext('promoted')).toBe('canary'));
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('The weights of promoted are as before.').waitFor();
    expect(await weightsOf(route)).toEqual([100, 0]);
  });

  it('set a share by keyboard and by pointer, and are asked before a version gets nothing', async () => {
    const route = await splitRoute('dragged');
    const { page } = await world.visit(`/routes/${route.id}?tab=versions`);
    const panel = page.getByRole('region', { name: 'Traffic split' });
    const divider = panel.getByRole('slider', { name: 'Divider between stable and canary' });
    await divider.focus();
    for (const key of ['PageDown', 'ArrowLeft', 'ArrowLeft', 'ArrowRight']) {
      await page.keyboard.press(key);
    }
    expect(await divider.getAttribute('aria-valuetext')).toBe('stable 89 %, canary 11 %');
    await dragTo(page, 0.5);
    expect(await divider.getAttribute('aria-valuenow')).toBe('50');
    expect(await accessibilityFaults(page)).toEqual([]);
    await panel.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The weights of dragged were saved.').waitFor();
    expect(await weightsOf(route)).toEqual([50, 50]);
    await divider.focus();
    await page.keyboard.press('Home');
    await panel.getByRole('button', { name: 'Save' }).click();
    const question = page.getByRole('dialog', { name: 'Move the requests of route dragged?' });
    await question.getByText('canary gets all requests, stable none.').waitFor();
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await weightsOf(route)).toEqual([50, 50]);
  });

  /** Drags the divider to a part of the bar. */
  async function dragTo(page: Page, part: number): Promise<void> {
    const divider = page.getByRole('slider', { name: /^Divider/ });
    const bar = await divider.locator('xpath=..').boundingBox();
    const from = await divider.boundingBox();
    if (bar === null || from === null) throw new Error('there is no bar');
    const y = bar.y + bar.height / 2;
    await page.mouse.move(from.x + from.width / 2, y);
    await page.mouse.down();
    await page.mouse.move(bar.x + bar.width * part, y, { steps: 4 });
    await page.mouse.up();
  }

  it('revert one change of a route in its history, and leave the changes of others', async () => {
    const { gateway } = world;
    const route = await gateway.route({ name: 'reverted', timeout_ms: 7000 });
    const other = await gateway.route({ name: 'untouched', timeout_ms: 7000 });
    const operator = await gateway.tokenClient({ name: 'operator' });
    await operator.patch(`/v1/routes/${route.id}`, { timeout_ms: 6000 });
    await gateway.admin.patch(`/v1/routes/${other.id}`, { timeout_ms: 5000 });
    const { page } = await world.visit('/routes?search=reverted');
    const journey = startJourney(page, 'revert one change');
    await journey.click(page.getByRole('link', { name: /, history$/ }));
    const change = page.getByRole('row', { name: 'route reverted updated' });
    await change.getByRole('cell', { name: 'operator', exact: true }).waitFor();
    await change.getByRole('insertion').filter({ hasText: '6000' }).waitFor();
    await journey.click(change.getByRole('button', { name: 'Revert the change' }));
    const question = page.getByRole('dialog', { name: 'Revert this change of route reverted?' });
    await journey.click(question.getByRole('button', { name: 'Revert' }));
    await page.getByText('The change of route reverted was reverted.').waitFor();
    await eventually(async () => expect(await change.count()).toBe(2));
    expect(await read(route)).toMatchObject({ timeout_ms: 7000 });
    expect(await read(other)).toMatchObject({ timeout_ms: 5000 });
    expect(journey.end().actions).toBe(3);
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it('rotate a token that is found by its name', async () => {
    await world.gateway.tokenClient({ name: 'nightly-import', scopes: ['proxy'] });
    const { page } = await world.visit('/tokens');
    const journey = startJourney(page, 'rotate a token');
    await journey.type(page.getByLabel('Search tokens'), 'nightly');
    await page.getByRole('row').nth(2).waitFor({ state: 'detached' });
    await journey.click(page.getByRole('button', { name: 'Actions of nightly-import' }));
    await journey.click(page.getByRole('menuitem', { name: 'Rotate secret' }));
    await journey.click(page.getByRole('dialog').getByRole('button', { name: 'Rotate' }));
    const secret = await page.getByLabel('New secret of nightly-import').inputValue();
    await journey.click(page.getByRole('button', { name: 'Done' }));
    await page.getByRole('row', { name: new RegExp(secret.slice(0, 8)) }).waitFor();
    expect(journey.end().actions).toBe(5);
  });

  it('open the form of a route at the field of a policy', async () => {
    const route = await world.gateway.route({ name: 'edited' });
    const { page } = await world.visit(`/routes/${route.id}?tab=policies`);
    await page.getByRole('link', { name: 'Edit Quota' }).click();
    await page.waitForURL(/\/edit.*#rate_limit$/);
    const section = page.getByRole('region', { name: 'Quota' });
    await eventually(async () => {
      const focus = section.locator(':focus');
      expect([await focus.count(), (await section.boundingBox())?.y ?? 0]).toEqual([
        1,
        expect.any(Number),
      ]);
    });
    expect((await section.boundingBox())?.y).toBeLessThan(720);
  });

  it('find the worst routes, and lead from there to their failed requests', async () => {
    const { gateway } = world;
    const quiet = await gateway.route({ name: 'worst-quiet', service_id: stable.id });
    await gateway.route({ name: 'worst-failing', service_id: stable.id });
    await gateway.settled();
    expect(quiet.id).toMatch(/^rte_/);
    await gateway.admin.proxy('worst-quiet');
    await gateway.admin.proxy('worst-failing/status/503');
    const { page } = await world.visit('/routes?search=worst');
    await page.getByRole('button', { name: 'Errors' }).click();
    await page.waitForURL(/order=-error_rate/);
    const rows = page.getByRole('row', { name: /^worst/ });
    await eventually(async () => expect(await rows.first().innerText()).toMatch(/^worst-failing/));
    await page.getByRole('button', { name: 'Errors' }).click();
    await page.waitForURL(/order=error_rate/);
    await eventually(async () => expect(await rows.first().innerText()).toMatch(/^worst-quiet/));
    await page.getByRole('link', { name: '100 % of the requests of worst-failing failed' }).click();
    await page.waitForURL(/\/requests\?.*route=worst-failing/);
    // The row as a whole leads to the route.
    await page.goBack();
    const heading = page.getByRole('rowheader', { name: 'worst-failing' });
    const width = (await heading.boundingBox())?.width ?? 0;
    await heading.click({ position: { x: width - 4, y: 8 } });
    await page.getByRole('heading', { name: 'worst-failing', level: 1 }).waitFor();
  });
});
