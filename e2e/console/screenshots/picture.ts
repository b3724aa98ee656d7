import type { Page } from 'playwright-core';

/** A picture: the name of its file, the address of the page, and what is done before it is opened and after. */
export interface Picture {
  readonly name: string;
  readonly path: string;
  /** Whether it is of a page without a session. */
  readonly isSignedOut?: true;
  readonly before?: (page: Page) => Promise<unknown>;
  readonly prepare?: (page: Page) => Promise<void>;
}

/** Presses the first button of this name. */
export const press = (name: string | RegExp) => (page: Page) =>
  page.getByRole('button', { name }).first().click();

/** Opens a menu and chooses something of it. */
export const choose = (menu: string, item: string) => async (page: Page) => {
  await press(menu)(page);
  await page.getByRole('menuitem', { name: item }).click();
};
