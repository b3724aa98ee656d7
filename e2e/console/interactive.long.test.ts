import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  borrowConsoleWorld,
  BROWSER_START_MS,
  type ConsoleWorld,
} from './harness/console-world.ts';

const TEN_MBIT = 10_000_000 / 8;
/** What Lighthouse assumes of a desktop: 40 ms there and back, 10 Mbit/s, and the processor as it is. */
const NETWORK = {
  offline: false,
  latency: 40,
  downloadThroughput: TEN_MBIT,
  uploadThroughput: TEN_MBIT,
};
/** From the begin of the navigation, with nothing in the cache. */
const MAX_MS = 1000;
/** What else the machine does only adds time, so one try in time is enough. */
const TRIES = 10;

/**
 * Presses the link to Requests in each frame, as soon as there is one, until the console follows it. `interactive` resolves
 * when the frame after that is drawn, with the time since the navigation began, in ms.
 */
const PRESS_LINK = `globalThis.interactive = new Promise((resolve) => {
  const press = () => {
    document.querySelector('nav a[href^="/console/requests"]')?.click();
    if (location.pathname !== '/console/requests') return requestAnimationFrame(press);
    requestAnimationFrame(() => setTimeout(() => resolve(Math.round(performance.now()))));
  };
  requestAnimationFrame(press);
})`;

describe('the console', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await borrowConsoleWorld();
    // Without a route, the Overview has no charts.
    await world.gateway.route({ name: 'interactive' });
  }, BROWSER_START_MS);
  afterEach(() => world.closePages());
  afterAll(() => world.close());

  /** Opens the Overview for the first time. @returns after how many ms its navigation answers */
  async function openOverview(signedIn: Page): Promise<number> {
    const fresh = await signedIn.context().newPage();
    const devtools = await fresh.context().newCDPSession(fresh);
    await devtools.send('Network.enable');
    await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
    await devtools.send('Network.emulateNetworkConditions', NETWORK);
    await fresh.addInitScript(PRESS_LINK);
    await fresh.goto(`${world.url}/overview`, { waitUntil: 'commit' });
    const ms = Number(await fresh.evaluate('globalThis.interactive'));
    await fresh.close();
    return ms;
  }

  it(`answers within ${MAX_MS} ms of its first visit, at 10 Mbit/s with 40 ms there and back`, async () => {
    const { page, signIn } = await world.open('/sign-in');
    await signIn();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const times: number[] = [];
    do times.push(await openOverview(page));
    while (times.length < TRIES && Math.min(...times) > MAX_MS);
    process.stdout.write(`the console answers after ${times.join(', ')} ms\n`);
    expect(Math.min(...times)).toBeLessThanOrEqual(MAX_MS);
  });
});
