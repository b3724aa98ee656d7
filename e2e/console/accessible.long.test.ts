import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { accessibilityFaults, faultsInAllLooks } from './harness/axe.ts';
import {
  borrowConsoleWorld,
  BROWSER_START_MS,
  type ConsoleWorld,
} from './harness/console-world.ts';

/** The path of each page, and what its heading is. */
const PAGES = [
  ['/overview', 'Overview'],
  ['/overview?period=24h', 'Overview'],
  ['/overview?environment=development', 'Overview'],
  ['/services', 'Services'],
  ['/services/new', 'New service'],
  ['/routes', 'Routes'],
  ['/routes?order=-error_rate&status=active', 'Routes'],
  ['/routes/new', 'New route'],
  ['/requests', 'Requests'],
  // With the filters that are used less.
  ['/requests?method=GET', 'Requests'],
  ['/callers', 'Callers'],
  ['/tokens', 'Tokens'],
  ['/tokens?state=active&order=-last_used_at', 'Tokens'],
  ['/data-planes', 'Data planes'],
  ['/data-planes/nobody', 'nobody'],
  ['/configuration', 'Configuration'],
  ['/configuration/2', 'Version 2'],
  ['/configuration/1/roll-back', 'Roll back to version 1'],
  ['/audit', 'Audit'],
  ['/audit?type=route&period=24h', 'Audit'],
  ['/environments', 'Environments'],
  ['/nowhere', 'There is no such page'],
] as const;

describe('the pages of the console', () => {
  let world: ConsoleWorld;
  let split = '';
  let pages: readonly (readonly [path: string, heading: string])[] = PAGES;
  beforeAll(async () => {
    world = await borrowConsoleWorld();
    const service = await world.gateway.service({ name: 'p'.repeat(60) });
    await world.gateway.route({ name: 'requested' });
    split = await splitRoute(world);
    await world.gateway.settled();
    // Retried once, so that its page has two attempts.
    const { headers } = await world.gateway.admin.proxy('requested/flaky/1/a', { method: 'GET' });
    const request = headers.get('x-request-id') ?? '';
    const [plane] = (await world.gateway.admin.get('/v1/data-planes')).page().data;
    const planeId = String(plane?.['id']);
    pages = [
      ...PAGES,
      [`/data-planes/${planeId}`, planeId],
      [`/services/${service.id}`, 'p'.repeat(60)],
      [`/requests/${request}`, '200 GET /flaky/1/a'],
      [`/routes/${split}`, 'split'],
      [`/routes/${split}?tab=policies`, 'split'],
      [`/routes/${split}?tab=versions`, 'Traffic split'],
      [`/routes/${split}?tab=history`, 'split'],
      [`/routes/${split}/edit`, 'Edit split'],
    ];
  }, BROWSER_START_MS);
  afterEach(() => world.closePages());
  afterAll(async () => {
    await world.close();
  });

  describe('have no fault that axe-core finds, in both themes, 1280 and 390 px wide', () => {
    it('at the sign-in and in what the header opens', async () => {
      const { page, signIn } = await world.open('/sign-in');
      await page.getByLabel('Token').waitFor();
      expect(await faultsInAllLooks(page)).toEqual([]);
      await signIn('gwt_wrong');
      await page.getByRole('alert').waitFor();
      expect(await faultsInAllLooks(page)).toEqual([]);
      await signIn();
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      await page.goto(`${world.url}/services`);
      await page.getByRole('heading', { name: 'Services' }).waitFor();
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
      expect(await faultsInAllLooks(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'admin' }).click();
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
      expect(await faultsInAllLooks(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Colours' }).click();
      await page.getByRole('radio', { name: 'Dark' }).waitFor();
      expect(await faultsInAllLooks(page)).toEqual([]);
    });

    it('in dialogs and answers', async () => {
      const { page, signIn } = await world.open('/tokens');
      await signIn();
      await page.getByRole('button', { name: 'New token' }).click();
      await page.getByRole('form', { name: 'New token' }).waitFor();
      expect(await faultsInAllLooks(page)).toEqual([]);
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.goto(`${world.url}/routes/${split}?tab=explain`);
      await page.getByRole('button', { name: 'Explain', exact: true }).click();
      await page.getByRole('region', { name: 'Explanation' }).waitFor();
      expect(await faultsInAllLooks(page)).toEqual([]);
      await page.goto(`${world.url}/routes/new`);
      await page.getByRole('button', { name: 'Create route' }).click();
      await page.getByRole('alert').waitFor();
      await page.getByRole('button', { name: 'Unfold all' }).click();
      expect(await faultsInAllLooks(page)).toEqual([]);
    });

    it('in the list of requests, and in what opens in it', async () => {
      const { page, signIn } = await world.open('/requests?live=false');
      await signIn();
      await page.getByRole('button', { name: /^Route/ }).click();
      await page.getByRole('option', { name: /^requested/ }).waitFor();
      // What lies half under the open list has a size that axe takes for too small.
      expect(await accessibilityFaults(page, ['wcag2a', 'wcag2aa', 'best-practice'])).toEqual([]);
      await page.keyboard.press('Escape');
      await page.locator('a[data-row-link]').first().click();
      await page.getByRole('region', { name: 'Verdict' }).waitFor();
      expect(await faultsInAllLooks(page)).toEqual([]);
      await page.goto(`${world.url}/requests?live=false&status=abc`);
      await page.getByRole('alert').waitFor();
      expect(await faultsInAllLooks(page)).toEqual([]);
    });

    // One test for all pages would take longer than a test may on a busy machine.
    it.each([1, 2, 3, 4, 5])(
      'and do not scroll sideways: the pages, part %d of 5',
      async (part) => {
        const { page, signIn } = await world.open('/services');
        await signIn();
        await page.getByRole('heading', { name: 'Services' }).waitFor();
        for (const [path, heading] of pages.filter((_page, index) => index % 5 === part - 1)) {
          await page.goto(world.url + path);
          await page.getByRole('heading', { name: heading }).waitFor();
          expect([path, await faultsInAllLooks(page)]).toEqual([path, []]);
          for (const width of [390, 768, 1280, 2560]) {
            await page.setViewportSize({ width, height: 900 });
            const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
            expect([path, wide]).toEqual([path, width]);
          }
        }
      },
    );
  });
});

/** A route with all that its page shows: versions, a JWT, regions. @returns its id */
async function splitRoute({ gateway }: ConsoleWorld): Promise<string> {
  const { id: service } = await gateway.service({ name: 'canary' });
  const { id } = await gateway.admin.create('/v1/routes', {
    name: 'split',
    versions: [
      { name: 'stable', service_id: service, weight: 90 },
      { name: 'canary', service_id: service, weight: 10 },
    ],
    auth: {
      type: 'jwt',
      issuer: `https://${'i'.repeat(200)}.example`,
      audience: ['orders'],
      jwks_url: 'http://127.0.0.1:9/keys',
      required_claims: { role: ['admin'] },
    },
    methods: ['GET', 'POST'],
    regions: ['eu-west'],
  });
  return id;
}
