import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import type { Gateway } from '../harness/gateway.ts';
import { BROWSER_START_MS, startConsoleWorld, type ConsoleWorld } from './harness/console-world.ts';

const NOTICE = 'The control plane does not answer';
const TAKES_MS = 120_000;
const AWAY_MS = 10_000;

describe('the console while the control plane is away', () => {
  let world: ConsoleWorld<Gateway>;
  let controlPlane: Gateway['controlPlane'];
  beforeAll(async () => {
    world = await startConsoleWorld();
    ({ controlPlane } = world.gateway);
    await world.gateway.route({ name: 'charges' });
    await world.gateway.settled();
  }, BROWSER_START_MS);
  afterEach(() => world.closePages());
  afterAll(async () => {
    await world.close();
  });

  async function restart(): Promise<void> {
    const [port, adminPort] = controlPlane.ports;
    controlPlane = await world.gateway.stack.startControlPlane({
      ...(port !== undefined && { port }),
      ...(adminPort !== undefined && { adminPort }),
    });
  }

  it(
    'says so, keeps what was read and what was typed, opens other pages, and recovers by itself',
    async () => {
      const { page, signIn, messages } = await world.open('/routes');
      const loaded = page.waitForEvent('requestfinished', (one) =>
        one.url().includes('audit-page'),
      );
      await signIn();
      await page.getByRole('link', { name: 'charges' }).waitFor();
      const form = await page.context().newPage();
      await form.goto(`${world.url}/routes/new?environment=production`);
      await form.getByLabel('Name', { exact: true }).fill('typed-before');
      // The files of all pages are loaded soon after the first page.
      await loaded;
      await page.waitForLoadState('networkidle', { timeout: 2000 }).catch(() => undefined);

      await controlPlane.stop('SIGKILL');
      await page.getByText(NOTICE).waitFor();
      await page.getByRole('link', { name: 'charges' }).waitFor();
      await page.getByRole('link', { name: 'Audit', exact: true }).click();
      await page.getByRole('heading', { name: 'Audit' }).waitFor();
      await form.getByRole('button', { name: 'Create route' }).click();
      await form.getByText('This was not saved').waitFor();
      await form.getByText(NOTICE).waitFor();

      await restart();
      await page.getByRole('row', { name: 'route charges created' }).waitFor();
      await page.getByText(NOTICE).waitFor({ state: 'detached' });
      await form.getByText(NOTICE).waitFor({ state: 'detached' });
      expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe('typed-before');
      await form.getByRole('combobox', { name: 'Service' }).click();
      await form
        .getByRole('option', { name: /^service-/ })
        .first()
        .click();
      await form.getByRole('button', { name: 'Create route' }).click();
      await form.getByRole('heading', { name: 'typed-before' }).waitFor();
      expect(messages.filter((one) => !/status of 40[14]|status of 50[234]/.test(one))).toEqual([]);
    },
    TAKES_MS,
  );

  it(
    'keeps an edit that could not be saved for as long as that, and saves it once it is back',
    async () => {
      const { admin } = world.gateway;
      const { id } = await world.gateway.service({ name: 'patient' });
      const { page } = await world.visit(`/services/${id}/edit#health_check`);
      await page.getByLabel('Unhealthy after').fill('7');
      await controlPlane.stop();
      const awayUntilMs = Date.now() + AWAY_MS;
      await page.getByRole('button', { name: 'Save' }).click();
      await eventually(
        async () => {
          const alert = page.getByRole('alert').getByText('The control plane cannot be reached.');
          expect(await alert.isVisible()).toBe(true);
          expect(await page.getByLabel('Unhealthy after').inputValue()).toBe('7');
          expect(Date.now()).toBeGreaterThan(awayUntilMs);
        },
        { deadlineMs: 2 * AWAY_MS },
      );
      await restart();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { name: 'patient', exact: true }).waitFor();
      expect((await admin.get(`/v1/services/${id}`)).resource()).toMatchObject({
        health_check: { unhealthy_threshold: 7 },
        revision: 2,
      });
    },
    TAKES_MS,
  );

  it(
    'opens a page whose file was not loaded before, as soon as it is back',
    async () => {
      const { page, signIn } = await world.open('/routes');
      // As if the files of all pages were not loaded yet, which happens soon after the first page.
      await page.route(/audit-page/, (route) => route.abort());
      await signIn();
      await page.getByRole('link', { name: 'charges' }).waitFor();
      await controlPlane.stop('SIGKILL');
      await page.unroute(/audit-page/);
      await page.getByRole('link', { name: 'Audit', exact: true }).click();
      await page.getByText('This could not be loaded').waitFor();
      await page.getByText(NOTICE).waitFor();
      await page.getByRole('link', { name: 'Routes', exact: true }).click();
      await page.getByRole('link', { name: 'charges' }).waitFor();
      await page.getByRole('link', { name: 'Audit', exact: true }).click();
      await page.getByText('This could not be loaded').waitFor();

      await restart();
      await page.getByRole('row', { name: 'route charges created' }).waitFor();
      await page.getByText(NOTICE).waitFor({ state: 'detached' });
    },
    TAKES_MS,
  );

  it(
    'does not take a missing file for that: the tab loads itself once, then says that the console was updated',
    async () => {
      const { page, signIn } = await world.open('/routes');
      await page.route(/audit-page/, (route) => route.fulfill({ status: 404 }));
      await signIn();
      await page.getByRole('link', { name: 'charges' }).waitFor();
      let loads = 0;
      page.on('load', () => (loads += 1));
      await page.getByRole('link', { name: 'Audit', exact: true }).click();
      await page.getByText('The console was updated').waitFor();
      expect(loads).toBe(1);
      expect(await page.getByText(NOTICE).count()).toBe(0);
      await page.unroute(/audit-page/);
      await page.getByRole('button', { name: 'Load the new version' }).click();
      await page.getByRole('row', { name: 'route charges created' }).waitFor();
    },
    TAKES_MS,
  );

  it(
    'opens the first page when it is back, if it went away before that page was shown',
    async () => {
      const { page, signIn } = await world.open('/routes');
      await signIn();
      await page.getByRole('link', { name: 'charges' }).waitFor();
      const tab = await page.context().newPage();
      // The script of the console is loaded, and nothing after it.
      await tab.route(/shell-|console\/api/, (route) => route.abort());
      await tab.goto(`${world.url}/routes`);
      await controlPlane.stop('SIGKILL');
      await tab.getByText(NOTICE).waitFor();
      await tab.unroute(/shell-|console\/api/);

      await restart();
      await tab.getByRole('link', { name: 'charges' }).waitFor();
    },
    TAKES_MS,
  );

  it(
    'says so when there is no answer at all, and continues when there is one',
    async () => {
      const { page, signIn } = await world.open('/services');
      await signIn();
      await page
        .getByRole('link', { name: /^service-/ })
        .first()
        .waitFor();
      process.kill(controlPlane.pid, 'SIGSTOP');
      try {
        await page.getByText(NOTICE).waitFor();
        await page
          .getByRole('link', { name: /^service-/ })
          .first()
          .waitFor();
      } finally {
        process.kill(controlPlane.pid, 'SIGCONT');
      }
      await page.getByText(NOTICE).waitFor({ state: 'detached' });
      await eventually(async () => expect(await page.getByRole('alert').count()).toBe(0));
    },
    TAKES_MS,
  );
});
