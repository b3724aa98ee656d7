import { buildDocs } from '@gateway/tools/build/build-pages';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { accessibilityFaults } from './harness/axe.ts';
import {
  borrowConsoleWorld,
  BROWSER_START_MS,
  type ConsoleWorld,
} from './harness/console-world.ts';

const LOOKS = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [1280, 390].map((width) => ({ colorScheme, width })),
);
const PAGES = [
  '/guide',
  '/guide/what-it-is',
  '/guide/use/quick-start',
  '/guide/use/policies/quotas',
  '/guide/understand/architecture',
  '/guide/understand/growth',
  '/api/tokens',
  '',
  '/errors',
];

describe('the documentation', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await borrowConsoleWorld();
    await buildDocs({
      log(line) {
        throw new Error(line);
      },
    });
  }, BROWSER_START_MS);
  afterAll(() => world.close());

  it.each(PAGES)(
    'has no fault on /docs%s, in any look, and is no wider than the window',
    async (path) => {
      const { page } = await world.visit(`/../docs${path}`, null);
      for (const { colorScheme, width } of LOOKS) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        await page.reload();
        for (const box of await page.locator('[data-try] > summary').all()) await box.click();
        const faults = await accessibilityFaults(page);
        expect([colorScheme, width, faults]).toEqual([colorScheme, width, []]);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
      }
    },
  );

  it('has no fault in its search', async () => {
    const { page } = await world.visit('/../docs/guide', null);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.reload();
      await page.keyboard.press('/');
      await page.getByRole('combobox').fill('quota');
      await page.getByRole('option').first().waitFor();
      expect([colorScheme, await accessibilityFaults(page)]).toEqual([colorScheme, []]);
    }
  });
});
