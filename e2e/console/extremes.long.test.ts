import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { queryDatabase } from '@gateway/testing/query-database';
import type { Page } from 'playwright-core';
import type { Gateway } from '../harness/gateway.ts';
import { BROWSER_START_MS, startConsoleWorld, type ConsoleWorld } from './harness/console-world.ts';
import { addHostileResources, type HostileResources } from './harness/hostile-resources.ts';

const TAKES_MS = 240_000;
const MANY = 10_000;
const WIDTHS = [390, 768, 1280];

describe('the console at its extremes', () => {
  let world: ConsoleWorld<Gateway>;
  let hostile: HostileResources;
  beforeAll(async () => {
    world = await startConsoleWorld();
    hostile = await addHostileResources(world.gateway);
  }, BROWSER_START_MS);
  afterEach(() => world.closePages());
  afterAll(async () => {
    await world.close();
  });

  it(
    'shows the longest names and hostile text in every page, without scrolling sideways, as text',
    async () => {
      const { page, messages } = await world.visit('/environments');
      const asked: string[] = [];
      page.on('dialog', (dialog) => void (asked.push(dialog.message()), dialog.dismiss()));
      for (const path of hostile.paths) {
        await page.goto(world.url + path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.waitForLoadState('networkidle', { timeout: 1500 }).catch(() => undefined);
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 });
          // The navigation slides out of a window that becomes narrow.
          await eventually(async () => {
            const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
            expect([path, wide]).toEqual([path, width]);
          });
        }
        expect([path, await page.locator('main img, main b > b, main script').count()]).toEqual([
          path,
          0,
        ]);
      }
      expect(asked).toEqual([]);
      expect(messages).toEqual([]);
    },
    TAKES_MS,
  );

  it('asks about the longest name in a dialog that is as wide as a phone', async () => {
    const { page } = await world.visit(hostile.routePath);
    await page.setViewportSize({ width: 390, height: 900 });
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog', { name: /^Delete route/ });
    await dialog.getByText('had no requests in the last hour').waitFor();
    expect(await outsideOfDialog(page)).toEqual([]);
  });

  it(
    'reads no more of 10 000 routes and tokens than it shows, and finds any of them',
    async () => {
      await addMany(world.gateway);
      const { page, requested } = await world.visit('/routes?environment=many');
      await page.getByRole('link', { name: 'route-1', exact: true }).waitFor();
      expect(pagesOf(requested, 'routes')).toBe(1);
      await page.getByLabel('Search routes').fill('route-9999');
      await page.getByRole('link', { name: 'route-9999' }).waitFor();

      requested.length = 0;
      await page.goto(`${world.url}/tokens?environment=many&of=many`);
      await page.getByRole('row', { name: /^token-1 / }).waitFor();
      await page.waitForLoadState('networkidle', { timeout: 5000 }).catch(() => undefined);
      // The page, and the tokens that made those of it.
      expect(pagesOf(requested, 'tokens')).toBeLessThanOrEqual(2);
      await page.getByLabel('Search tokens').fill('token-9999');
      await page.getByRole('row', { name: /^token-9999 / }).waitFor();

      requested.length = 0;
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Go to' }).fill('token-9998');
      await page.getByRole('option', { name: 'token-9998' }).waitFor();
      expect(pagesOf(requested, 'tokens')).toBe(1);
    },
    TAKES_MS,
  );

  it.each([
    ['services', 'Create the first service'],
    ['routes', 'Create the first route'],
    ['overview', 'Create the first service'],
  ])('says the next step in the %s of an empty environment', async (path, step) => {
    await world.gateway.admin.post('/v1/environments', { name: 'empty' }).catch(() => undefined);
    const { page } = await world.visit(`/${path}?environment=empty`);
    await page.getByRole('link', { name: step }).waitFor();
  });
});

/** How many lists of a kind were read, of one page each. */
function pagesOf(requested: readonly string[], kind: string): number {
  return requested.filter((url) => new RegExp(`/v1/${kind}\\?`).test(url)).length;
}

/** The elements of the dialog that end right of it. */
function outsideOfDialog(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(`(() => {
    const dialog = document.querySelector('[role="dialog"]');
    const right = dialog.getBoundingClientRect().right;
    return [...dialog.querySelectorAll('*')]
      .filter((one) => one.getBoundingClientRect().right > right + 1)
      .map((one) => one.outerHTML.slice(0, 200));
  })()`);
}

/** Copies of one route and one token, made by the database: the API would take minutes. */
async function addMany({ admin, stack }: Gateway): Promise<void> {
  await admin.create('/v1/environments', { name: 'many' });
  const { id } = await admin.create('/v1/services', {
    name: 'pay',
    environment: 'many',
    url: 'http://pay.example',
  });
  await admin.create('/v1/routes', { name: 'template', service_id: id });
  await admin.create('/v1/tokens', {
    name: 'template',
    environments: ['many'],
    scopes: ['proxy'],
  });
  const query = (text: string) => queryDatabase(stack.databaseUrl, text);
  const [columns] = await query(
    `SELECT string_agg(quote_ident(column_name), ',') AS names FROM information_schema.columns
      WHERE table_name = 'routes' AND table_schema = current_schema() AND column_name NOT IN ('id', 'name')`,
  );
  const names = String(columns?.['names']);
  await query(
    `INSERT INTO routes (id, name, ${names}) SELECT 'rte_' || lpad(n::text, 26, '0'), 'route-' || n, ${names}
      FROM routes, generate_series(1, ${MANY}) AS n WHERE name = 'template'`,
  );
  await query(
    `INSERT INTO tokens (id, name, environments, routes, scopes, secret_sha256, created_by, created_at, updated_at)
      SELECT 'tok_' || lpad(n::text, 26, '0'), 'token-' || n, environments, routes, scopes, sha256(n::text::bytea),
        created_by, created_at, updated_at
      FROM tokens, generate_series(1, ${MANY}) AS n WHERE name = 'template'`,
  );
}
