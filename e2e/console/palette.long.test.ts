import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { accessibilityFaults } from './harness/axe.ts';
import {
  borrowConsoleWorld,
  BROWSER_START_MS,
  type ConsoleWorld,
} from './harness/console-world.ts';

/** Turns the text after it around. */
const TURNING = '\u202E';
const MARKUP = '<img src=x onerror="globalThis.wasHacked = true">';

describe('the palette of the console', () => {
  let world: ConsoleWorld;
  let routeId: string;
  beforeAll(async () => {
    world = await borrowConsoleWorld();
    const service = await world.gateway.service({ name: 'palette-service' });
    routeId = (await world.gateway.route({ name: 'palette-route', service_id: service.id })).id;
    await world.gateway.tokenClient({ name: 'palette-token', scopes: ['proxy'] });
    await world.gateway.settled();
  }, BROWSER_START_MS);
  afterEach(() => world.closePages());
  afterAll(() => world.close());

  const field = (page: Page) => page.getByRole('combobox', { name: 'Go to' });

  async function openPalette(path = '/audit'): Promise<Page> {
    const { page } = await world.visit(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await field(page).waitFor();
    return page;
  }

  it('leads by keys alone to a route, a service, what a token did, a page and a form', async () => {
    const targets = [
      ['palette-rou', 'palette-route', `/console/routes/${routeId}`],
      ['palette-ser', 'palette-service', '/console/services/svc_'],
      ['palette-tok', 'palette-token', '/console/requests'],
      ['data pl', 'Data planes', '/console/data-planes'],
      ['new rou', 'New route', '/console/routes/new'],
    ] as const;
    for (const [text, option, path] of targets) {
      const page = await openPalette();
      await page.keyboard.type(text);
      await page.getByRole('option', { name: option, exact: true }).waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL((url) => url.pathname.startsWith(path));
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
  });

  it('leads to a request by an id that is pasted with other text', async () => {
    const { headers } = await world.gateway.admin.proxy('palette-route', { method: 'GET' });
    const id = headers.get('x-request-id') ?? '';
    const page = await openPalette();
    await field(page).fill(`x-request-id: ${id}`);
    await page.getByRole('option', { name: id }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.pathname === `/console/requests/${id}`);
  });

  it('chooses with the arrows, and closes with Escape without going anywhere', async () => {
    const page = await openPalette();
    const address = page.url();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    const chosen = page.locator('[data-combobox-selected]');
    await chosen.waitFor();
    expect(await chosen.textContent()).toBe('Requests');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(page.url()).toBe(address);
  });

  it('shows hostile names as text, cuts long ones, and says that nothing is found', async () => {
    const { page } = await world.visit('/audit');
    // The API refuses such names. The palette must not depend on that.
    const names = [`palette ${TURNING}${MARKUP}`, `palette ${'long'.repeat(200)}`];
    const data = names.map((name, index) => ({ id: `svc_${index}`, name }));
    await page.route(/\/v1\/services\?/, (call) =>
      call.fulfill({ json: { data, next_cursor: null, request_id: 'req_1' } }),
    );
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.setViewportSize({ width: 390, height: 720 });
    await page.keyboard.press('Control+k');
    await field(page).waitFor();
    await page.keyboard.type('palette');
    await page.getByRole('option', { name: `palette \\u202E${MARKUP}` }).waitFor();
    await page.getByRole('option', { name: /^palette long/ }).waitFor();
    expect(await page.evaluate('globalThis.wasHacked')).toBeUndefined();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await field(page).fill('nothing is called this');
    await page.getByText('Nothing has this in its name.').waitFor();
  });
});
