import { buildDocs } from '@gateway/tools/build/build-pages';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  borrowConsoleWorld,
  BROWSER_START_MS,
  type ConsoleWorld,
} from './harness/console-world.ts';
import { VISIBLE_TO_SCRIPTS } from './harness/visible-to-scripts.ts';

/** From the console, below which the harness opens pages. */
const DOCS = '/../docs';

describe('the documentation in a browser', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await borrowConsoleWorld();
    await buildDocs({
      log(line) {
        throw new Error(line);
      },
    });
  }, BROWSER_START_MS);
  afterEach(() => world.closePages());
  afterAll(() => world.close());

  it('is searched from the keyboard', async () => {
    const { page } = await world.visit(`${DOCS}/guide`, null);
    await page.keyboard.press('/');
    const search = page.getByRole('combobox');
    await search.fill('timeout_ms');
    await page.getByRole('option').first().waitFor();
    await search.fill('idempotency keys');
    await page
      .getByRole('option', { name: /^Idempotency keys/ })
      .first()
      .waitFor();
    await search.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Idempotency keys' }).waitFor();
    await page.keyboard.press('Control+k');
    await search.fill('zzzzzz');
    await page.getByText('Nothing is found').waitFor();
    await search.press('Escape');
    await search.waitFor({ state: 'hidden' });
  });

  it('loads nothing from elsewhere, and nothing that its policy forbids', async () => {
    const { page, messages, requested } = await world.visit(
      `${DOCS}/guide/understand/growth`,
      null,
    );
    await page.goto(new URL('/docs/api/routes', world.url).href);
    await page.getByRole('heading', { level: 1 }).waitFor();
    const origin = new URL(world.url).origin;
    expect(
      requested.filter((one) => !one.startsWith(`${origin}/docs`) && !one.startsWith('data:')),
    ).toEqual([]);
    expect(messages).toEqual([]);
  });

  it('sends a call under the session of the console, with no token in the page', async () => {
    const { page } = await world.visit(`${DOCS}/api/tokens#getCaller`);
    const operation = page.locator('#getCaller');
    await operation.getByText('Try it').click();
    await operation.getByText('as the token admin').waitFor();
    await operation.getByRole('button', { name: 'Send' }).click();
    await operation.getByText('"name": "admin"').waitFor();
    expect(await operation.getByRole('status').textContent()).toMatch(
      /^200 in \d+ ms.*x-request-id/,
    );
    const visible = await page.evaluate<string>(VISIBLE_TO_SCRIPTS);
    expect(visible).not.toContain(world.gateway.admin.token);
  });

  it('asks before a call that may change something', async () => {
    const { page } = await world.visit(`${DOCS}/api/environments#createEnvironment`);
    const operation = page.locator('#createEnvironment');
    await operation.getByText('Try it').click();
    await operation.getByLabel('Body').fill('{"name":"from-the-docs"}');
    const send = operation.getByRole('button', { name: 'Send' });
    const asked = page.getByRole('dialog');
    const environments = () => world.gateway.admin.get('/v1/environments');
    await send.click();
    await asked.getByRole('button', { name: 'Cancel' }).click();
    await asked.waitFor({ state: 'detached' });
    expect(JSON.stringify(await environments())).not.toContain('from-the-docs');
    await send.click();
    await asked.getByText('POST /v1/environments').waitFor();
    await asked.getByRole('button', { name: 'Send' }).click();
    await operation.getByText('201').first().waitFor();
    await operation.getByRole('status').getByText('"name": "from-the-docs"').waitFor();
    await world.gateway.admin.delete('/v1/environments/from-the-docs');
  });

  it('says where to sign in if there is no session, and what the gateway answers', async () => {
    const { page } = await world.visit(`${DOCS}/api/services#listServices`, null);
    const operation = page.locator('#listServices');
    await operation.getByText('Try it').click();
    await operation.getByRole('link', { name: 'Sign in to the console' }).waitFor();
    await operation.getByRole('button', { name: 'Send' }).click();
    await operation.getByText('authentication_failed').first().waitFor();
  });

  it('is led to by the Help menu of the console', async () => {
    const { page } = await world.visit('/');
    await page.getByRole('button', { name: 'Help' }).click();
    for (const [name, heading] of [
      ['Documentation', 'Documentation'],
      ['API reference', 'Gateway management API'],
    ] as const) {
      const opened = page.context().waitForEvent('page');
      await page.getByRole('menuitem', { name }).click();
      const tab = await opened;
      await tab.getByRole('heading', { level: 1, name: heading }).waitFor();
      await tab.close();
      await page.bringToFront();
      if (name === 'Documentation') await page.getByRole('button', { name: 'Help' }).click();
    }
  });
});
