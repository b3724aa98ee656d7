import type { Page } from 'playwright-core';

/** Unfolds a section of a form, by the keyboard. */
export async function unfold(page: Page, title: string): Promise<void> {
  const row = page.getByRole('button', { name: title, exact: true });
  await row.waitFor();
  if ((await row.getAttribute('aria-expanded')) === 'false') await row.press('Enter');
}
