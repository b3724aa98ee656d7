import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { alterDatabase } from '@gateway/testing/alter-database';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { eventually } from '@gateway/shared/test/eventually';
import { tracesIn } from '../security/secrets/traces.ts';
import {
  borrowConsoleWorld,
  BROWSER_START_MS,
  type ConsoleWorld,
} from './harness/console-world.ts';
import { countFiles } from './harness/loaded-files.ts';
import { VISIBLE_TO_SCRIPTS } from './harness/visible-to-scripts.ts';

/** What a browser loads before the first page is there, compressed: fonts, scripts, styles and the page itself. */
const MAX_FIRST_PAGE_BYTES = 320_000;

/** What Chromium says when a call is answered 401, as the first one without a session is. */
const REFUSED = /status of 401/;

describe('the sign-in of the console', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await borrowConsoleWorld();
  }, BROWSER_START_MS);
  afterEach(() => world.closePages());
  afterAll(async () => {
    await world.close();
  });

  const serviceReader = (name: string) =>
    world.gateway.tokenClient({ name, scopes: ['services:read', 'config:read'] });

  it('shows the page that was asked for, in the environment that was asked for', async () => {
    const { page, signIn, messages } = await world.visit(
      '/data-planes?environment=development',
      null,
    );
    await signIn();
    await page.getByRole('heading', { name: 'Data planes' }).waitFor();
    expect(page.url()).toBe(`${world.url}/data-planes?environment=development`);
    expect(await page.getByLabel('Environment').inputValue()).toBe('development');
    expect(messages.filter((one) => !REFUSED.test(one))).toEqual([]);
  });

  it('says that a token is unknown or malformed, and accepts the next one', async () => {
    const { page, signIn } = await world.visit('/services', null);
    await signIn(createTokenSecret());
    await page.getByRole('alert').getByText('The token is unknown or revoked.').waitFor();
    await signIn('gwt_half');
    await page.getByRole('alert').getByText('The token is malformed.').waitFor();
    await signIn();
    await page.getByRole('heading', { name: 'Services' }).waitFor();
  });

  it('is asked for again when the session ends, and returns to the page', async () => {
    const client = await serviceReader('ends');
    const path = '/data-planes?environment=production';
    const { page, signIn } = await world.visit(path, client.token);
    await page.getByRole('heading', { name: 'Data planes' }).waitFor();
    await world.gateway.admin.delete(`/v1/tokens/${client.tokenId}`);
    await page.getByText('Your session has ended.').waitFor();
    await signIn();
    await page.getByRole('heading', { name: 'Data planes' }).waitFor();
    expect(page.url()).toBe(`${world.url}/data-planes?environment=production`);
  });

  it('is asked for again after 12 hours without use', async () => {
    const { page, signIn } = await world.visit('/data-planes?environment=production');
    await page.getByRole('heading', { name: 'Data planes' }).waitFor();
    const statement = 'UPDATE console_sessions SET last_used_at = last_used_at - $1::interval';
    await alterDatabase(world.gateway.databaseUrl, statement, ['13 hours']);
    await page.getByText('Your session has ended.').waitFor();
    await signIn();
    await page.getByRole('heading', { name: 'Data planes' }).waitFor();
    expect(page.url()).toBe(`${world.url}/data-planes?environment=production`);
  });

  it('ends with the sign-out, in every tab', async () => {
    const { page } = await world.visit('/data-planes');
    const other = await page.context().newPage();
    await other.goto(`${world.url}/data-planes`);
    await other.getByRole('heading', { name: 'Data planes' }).waitFor();
    await page.getByRole('button', { name: 'admin' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await other.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
  });

  it('leaves the token nowhere: not in storage, cookies, addresses, the page or logs', async () => {
    const { token } = await serviceReader('traceless');
    const { page, signIn, messages, requested } = await world.open('/services');
    await signIn(createTokenSecret());
    await page.getByRole('alert').waitFor();
    await signIn(token);
    await page.getByRole('heading', { name: 'Services' }).waitFor();
    await page.getByText('No services in production').waitFor();
    const state = await page.context().storageState({ indexedDB: true });
    const [cookie] = state.cookies;
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/console' });
    const seen = await page.evaluate<string>(VISIBLE_TO_SCRIPTS);
    const texts = [token, cookie?.value ?? ''];
    expect(tracesIn([seen, ...messages, ...requested, page.url()].join('\n'), texts)).toEqual([]);
    expect(tracesIn(JSON.stringify(state), [token])).toEqual([]);
    const { controlPlane, dataPlanes } = world.gateway;
    for (const { logFile } of [controlPlane, ...dataPlanes]) {
      const log = await eventually(async () => {
        const text = await readFile(logFile, 'utf8');
        expect(text).not.toBe('');
        return text;
      });
      expect(tracesIn(log, texts)).toEqual([]);
    }
  });

  it(`leads to a first page of at most ${MAX_FIRST_PAGE_BYTES} bytes that shows its frame while it is loaded, and loads nothing from another host`, async () => {
    // Without a route, there are no charts.
    await world.gateway.route({ name: 'first-page' });
    const { page, signIn } = await world.open('/sign-in');
    await signIn();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const fresh = await page.context().newPage();
    const requested: string[] = [];
    fresh.on('request', (request) => requested.push(request.url()));
    const files = await countFiles(fresh);
    // Until the session is known, nothing but the frame can be shown.
    let answer = (): void => undefined;
    const asked = new Promise<void>((resolve) => (answer = resolve));
    await fresh.route('**/v1/whoami', async (call) => {
      await asked;
      await call.continue();
    });
    await fresh.goto(`${world.url}/overview`);
    await fresh.getByRole('status', { name: 'Loading' }).waitFor();
    answer();
    await fresh.getByRole('img', { name: /^Requests over time/ }).waitFor();
    process.stdout.write(`first page of the console: ${files.sum()} bytes\n`);
    expect(files.sum()).toBeGreaterThan(100_000);
    expect(files.sum()).toBeLessThanOrEqual(MAX_FIRST_PAGE_BYTES);
    const { origin } = new URL(world.url);
    expect(requested.filter((one) => new URL(one).origin !== origin)).toEqual([]);
  });
});
