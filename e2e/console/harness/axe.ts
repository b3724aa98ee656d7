import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** WCAG 2.2 at level AA, and what axe recommends beside it. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Resolves when what moves once has stopped. */
const ANIMATIONS_END = `Promise.allSettled(
  document.getAnimations()
    .filter((one) => one.effect.getComputedTiming().iterations !== Infinity)
    .map((one) => one.finished),
).then(() => undefined)`;

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

interface AxeWindow {
  readonly axe: {
    run(options: object): Promise<{ readonly violations: readonly Violation[] }>;
  };
}

/** The rules that depend on the theme. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];
const WIDTHS = [1280, 390];
const HEIGHT = 900;

/** What axe-core finds on the page that is shown, a line for each element. */
export async function accessibilityFaults(
  page: Page,
  runOnly: readonly string[] = TAGS,
): Promise<readonly string[]> {
  // An element that is still moving in is half transparent, with another contrast.
  await page.evaluate(ANIMATIONS_END);
  await page.evaluate(await readFile(AXE, 'utf8'));
  const violations = await page.evaluate(
    (options) => (globalThis as unknown as AxeWindow).axe.run(options).then((it) => it.violations),
    { runOnly, resultTypes: ['violations'] },
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
  );
}

/** The same at two widths and in both themes. The theme changes nothing but colours, so the other rules are checked in one. */
export async function faultsInAllLooks(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const themed = page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`);
      await themed.waitFor({ state: 'attached' });
      const rules = colorScheme === 'light' ? TAGS : COLOUR_RULES;
      const faults = await accessibilityFaults(page, rules);
      found.push(...faults.map((fault) => `${colorScheme}, ${width} px: ${fault}`));
    }
  }
  return found;
}
