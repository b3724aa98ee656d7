import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { closedPort } from '@gateway/shared/test/upstream';
import { tracesIn } from '../security/secrets/traces.ts';
import { accessibilityFaults } from './harness/axe.ts';
import {
  borrowConsoleWorld,
  BROWSER_START_MS,
  type ConsoleWorld,
} from './harness/console-world.ts';
import { unfold } from './harness/fold.ts';
import { VISIBLE_TO_SCRIPTS } from './harness/visible-to-scripts.ts';

const UPSTREAM_SECRET = 'sk_live_of_the_upstream';

describe('services in the console', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await borrowConsoleWorld();
  }, BROWSER_START_MS);
  afterEach(() => world.closePages());
  afterAll(async () => {
    await world.close();
  });

  const stored = async (id: string) =>
    (await world.gateway.admin.get(`/v1/services/${id}`)).resource();

  it('are created in a form with the messages of the API, seen with their health, and deleted', async () => {
    const { page, messages, requested } = await world.visit('/services');
    await page.getByRole('button', { name: 'New service' }).click();
    const form = page.getByRole('form', { name: 'New service' });
    await form.getByLabel('Name', { exact: true }).fill('payments');
    await form.getByLabel('URL').fill('payments.internal');
    await unfold(page, 'Health check');
    await form.getByLabel('Interval').fill('500');
    await form.getByLabel('Timeout').fill('2000');
    await form.getByRole('button', { name: 'Create service' }).click();
    await page.getByRole('alert').waitFor();
    await form
      .getByText('must be an absolute URL, such as https://api.example.com', { exact: true })
      .waitFor();
    await form.getByText('must be at most “Interval”, which is 500', { exact: true }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);

    await form.getByLabel('URL').fill(world.gateway.upstream.url);
    await form.getByLabel('Region').fill('eu-west');
    await form.getByLabel('Path', { exact: true }).fill('/');
    await form.getByLabel('Timeout').fill('500');
    await unfold(page, 'Authentication');
    await form.getByLabel('Credential').selectOption('Bearer token');
    await form.getByRole('textbox', { name: 'Bearer token' }).fill(UPSTREAM_SECRET);
    await form.getByRole('button', { name: 'Create service' }).click();
    await page.getByRole('heading', { name: 'payments' }).waitFor();
    await page.getByText('Bearer token in the header authorization').waitFor();
    const matrix = page.getByRole('region', { name: 'Health by data plane' });
    await matrix.getByText('healthy', { exact: true }).nth(1).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);

    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    expect(await stored(id)).toMatchObject({
      environment: 'production',
      upstreams: [{ url: world.gateway.upstream.url, region: 'eu-west', weight: 1 }],
      health_check: { interval_ms: 500, timeout_ms: 500, unhealthy_threshold: 3 },
      credential: { type: 'bearer' },
    });
    const seen = await page.evaluate<string>(VISIBLE_TO_SCRIPTS);
    const texts = [seen, ...messages, ...requested].join('\n');
    expect(tracesIn(texts, [UPSTREAM_SECRET])).toEqual([]);

    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByLabel('Type payments to confirm').fill('payments');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'Services' }).waitFor();
    await page.getByText('Service payments was deleted.').waitFor();
    await page.getByRole('link', { name: 'payments' }).waitFor({ state: 'detached' });
    expect((await world.gateway.admin.get(`/v1/services/${id}`)).status).toBe(404);
  });

  it('are found by a part of the name or of an upstream, with the key / first, and by their state', async () => {
    await world.gateway.service({ name: 'ledger-eu' });
    const down = await world.gateway.service({
      name: 'broken',
      url: `http://127.0.0.1:${await closedPort()}/ledger`,
    });
    const { page } = await world.visit('/services?environment=production');
    const table = page.getByRole('region', { name: 'Services' });
    await table.getByRole('link', { name: 'ledger-eu' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('LEDGER');
    await table.getByRole('link', { name: 'broken' }).waitFor();
    await page.waitForURL(/search=LEDGER/);
    await page.getByRole('button', { name: 'Status', exact: true }).click();
    await page.getByRole('option', { name: 'Not healthy' }).click();
    await table.getByRole('link', { name: 'ledger-eu' }).waitFor({ state: 'detached' });
    // The one that is not healthy stands first when all are shown, and says why.
    await page.goto(`${world.url}/services?environment=production`);
    const first = table.getByRole('row').nth(1);
    await first.getByText('unhealthy', { exact: true }).waitFor();
    await first.getByText(/checks failed/).waitFor();
    await first.getByRole('link', { name: 'broken' }).click();
    await page.getByRole('heading', { name: 'broken' }).waitFor();
    await page
      .getByRole('status')
      .getByText(/checks failed/)
      .waitFor();
    await world.gateway.admin.delete(`/v1/services/${down.id}`);
  });

  it('show their traffic and their routes', async () => {
    const { id } = await world.gateway.service({ name: 'busy' });
    await world.gateway.route({ name: 'busy-orders', service_id: id });
    await world.gateway.settled();
    await world.gateway.admin.proxy('busy-orders', { method: 'GET' });
    const { page } = await world.visit(`/services/${id}`);
    const routes = page.getByRole('region', { name: 'Routes to this service' });
    await routes
      .getByRole('row', { name: /^busy-orders active 1 0 %/ })
      .waitFor({ timeout: 30_000 });
    await page.getByRole('link', { name: '2xx: 1 request' }).waitFor({ timeout: 20_000 });
    await routes.getByRole('link', { name: 'busy-orders' }).click();
    await page.getByRole('heading', { name: 'busy-orders' }).waitFor();
  });

  it('and routes lead from an empty environment to the first one, and say that an environment is unknown', async () => {
    const { page } = await world.visit('/services?environment=development');
    await page.getByRole('link', { name: 'Create the first service' }).waitFor();
    await page.getByRole('link', { name: 'Routes', exact: true }).click();
    await page.getByText('No routes in development').waitFor();
    await page.getByRole('link', { name: 'Create the first route' }).click();
    // The list that the page replaces has a field of the same name.
    await page.getByRole('heading', { name: 'New route' }).waitFor();
    await page.getByRole('combobox', { name: 'Service' }).click();
    await page.getByText('There are no services in development.').waitFor();
    await page.goto(`${world.url}/services?environment=nowhere`);
    await page.getByRole('alert').getByText('There is no environment nowhere').waitFor();
    await page.goto(`${world.url}/services/svc_nowhere`);
    await page.getByRole('alert').getByText('Not found').waitFor();
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link').click();
    await page.getByRole('heading', { name: 'Services' }).waitFor();
  });

  it('show what changed meanwhile, when two tabs edit one, and keep both changes', async () => {
    const { id } = await world.gateway.service({
      name: 'shared',
      credential: { type: 'bearer', token: UPSTREAM_SECRET },
    });
    const { page } = await world.visit(`/services/${id}/edit`);
    const other = await page.context().newPage();
    await other.goto(`${world.url}/services/${id}/edit`);
    await unfold(page, 'Health check');
    await unfold(page, 'Authentication');
    await page.getByLabel('Path', { exact: true }).fill('/mine');
    await page.getByLabel('Unhealthy after').fill('5');
    await page.getByLabel('Credential').selectOption('A new bearer token');
    await page.getByRole('textbox', { name: 'Bearer token' }).fill('second-secret');

    await unfold(other, 'Health check');
    await unfold(other, 'Authentication');
    await other.getByLabel('Path', { exact: true }).fill('/theirs');
    await other.getByLabel('Interval').fill('9000');
    await other.getByLabel('Credential').selectOption('None: remove it');
    await other.getByRole('button', { name: 'Save' }).click();
    await other.getByRole('heading', { name: 'shared', exact: true }).waitFor();

    await page.getByRole('button', { name: 'Save' }).click();
    const conflict = page.getByRole('alert').filter({ hasText: 'changed this' });
    await conflict.getByRole('row', { name: 'Path /healthz /theirs /mine' }).waitFor();
    await conflict.getByRole('row', { name: /Health check, Interval 5 s 9 s as now/ }).waitFor();
    await conflict.getByText('the value in the form').waitFor();
    expect(await conflict.getByText('second-secret').count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await stored(id)).toMatchObject({ health_path: '/theirs', credential: null });
    await page.getByRole('button', { name: 'Keep my changes' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'shared', exact: true }).waitFor();
    expect(await stored(id)).toMatchObject({
      health_path: '/mine',
      health_check: { interval_ms: 9000, unhealthy_threshold: 5 },
      credential: { type: 'bearer' },
    });
  });

  it('keep what was typed when they could not be saved, and are saved then', async () => {
    const { id } = await world.gateway.service({ name: 'patient' });
    const { page } = await world.visit(`/services/${id}/edit#health_check`);
    await page.getByLabel('Unhealthy after').fill('7');
    await page.route('**/console/api/**', (call) => call.abort());
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('The gateway cannot be reached.').waitFor();
    expect(await page.getByLabel('Unhealthy after').inputValue()).toBe('7');
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'patient', exact: true }).waitFor();
    expect(await stored(id)).toMatchObject({
      health_check: { unhealthy_threshold: 7 },
      revision: 2,
    });
  });
});
