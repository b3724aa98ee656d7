import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  borrowConsoleWorld,
  BROWSER_START_MS,
  type ConsoleWorld,
} from './harness/console-world.ts';

/** What a browser loads before the first page is there, compressed: fonts, scripts, styles and the page itself. */
const MAX_BYTES = 320_000;

describe('the first page of the console', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await borrowConsoleWorld();
    // Without a route, there are no charts.
    await world.gateway.route({ name: 'first-page' });
  }, BROWSER_START_MS);
  afterEach(() => world.closePages());
  afterAll(() => world.close());

  /** Counts the bytes of each file that the page loads from now on, as they are sent. */
  async function countFiles(page: Page): Promise<ReadonlyMap<string, number>> {
    const devtools = await page.context().newCDPSession(page);
    const urls = new Map<string, string>();
    const bytes = new Map<string, number>();
    devtools.on('Network.requestWillBeSent', ({ requestId, request }) => {
      const { pathname } = new URL(request.url);
      if (!pathname.startsWith('/console/api/')) urls.set(requestId, pathname);
    });
    devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      const url = urls.get(requestId);
      if (url !== undefined) bytes.set(url, encodedDataLength);
    });
    await devtools.send('Network.enable');
    return bytes;
  }

  it(`takes at most ${MAX_BYTES} bytes, each file once, and shows its frame while it is loaded`, async () => {
    const { page, signIn } = await world.open('/sign-in');
    await signIn();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const fresh = await page.context().newPage();
    // The other pages are loaded some seconds later, unless the reader asks for less data.
    await fresh.addInitScript(() => {
      Object.defineProperty(navigator, 'connection', { value: { saveData: true } });
    });
    const devtools = await fresh.context().newCDPSession(fresh);
    await devtools.send('Network.enable');
    await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
    const bytes = await countFiles(fresh);
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
    const sum = [...bytes.values()].reduce((total, one) => total + one, 0);
    process.stdout.write(`first page of the console: ${sum} bytes\n`);
    expect(sum).toBeGreaterThan(100_000);
    expect(sum).toBeLessThanOrEqual(MAX_BYTES);
  });
});
