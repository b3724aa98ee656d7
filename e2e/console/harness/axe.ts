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

/** What axe-core finds on the page that is shown, a line for each element. */
export async function accessibilityFaults(page: Page): Promise<readonly string[]> {
  // An element that is still moving in is half transparent, with another contrast.
  await page.evaluate(ANIMATIONS_END);
  await page.evaluate(await readFile(AXE, 'utf8'));
  const violations = await page.evaluate(
    (options) => (globalThis as unknown as AxeWindow).axe.run(options).then((it) => it.violations),
    { runOnly: TAGS, resultTypes: ['violations'] },
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
  );
}
