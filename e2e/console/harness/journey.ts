import type { Page } from 'playwright-core';

/** What a journey through the console costs its reader. */
export interface Journey {
  /** Presses the element, and counts it. */
  readonly click: (element: { click(): Promise<void> }) => Promise<void>;
  /** Presses a key, and counts it. */
  readonly press: (key: string) => Promise<void>;
  /** Types a text, and counts one. */
  readonly type: (element: { fill(text: string): Promise<void> }, text: string) => Promise<void>;
  /** Prints how many actions it took and how long, with the time of the machine between them. */
  readonly end: () => { readonly actions: number };
}

/** Begins to count the actions of a journey. */
export function startJourney(page: Page, name: string): Journey {
  const startedMs = performance.now();
  let actions = 0;
  return {
    async click(element) {
      actions += 1;
      await element.click();
    },
    async press(key) {
      actions += 1;
      await page.keyboard.press(key);
    },
    async type(element, text) {
      actions += 1;
      await element.fill(text);
    },
    end() {
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
      process.stdout.write(`journey: ${name}: ${actions} actions, ${seconds} s\n`);
      return { actions };
    },
  };
}
