import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';

/** Tries every way out of the form of a new route with unsaved input, and stays each time. */
export async function staysAfterEachWayOut(page: Page): Promise<void> {
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  const signOut = async (): Promise<void> => {
    await page.getByRole('button', { name: 'admin', exact: true }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
  };
  for (const leave of [
    () => page.getByLabel('Pages', { exact: true }).getByRole('link', { name: 'Services' }).click(),
    () => page.evaluate('history.back()'),
    () => page.getByLabel('Environment', { exact: true }).selectOption('development'),
    signOut,
  ]) {
    await leave();
    await question.waitFor();
    await question.getByRole('button', { name: 'Stay' }).click();
    await question.waitFor({ state: 'detached' });
  }
  await page.keyboard.press('Escape');
  // The browser asks before a reload.
  const asked = page.waitForEvent('dialog');
  void page.evaluate('location.reload()').catch(() => undefined);
  const dialog = await asked;
  expect(dialog.type()).toBe('beforeunload');
  await dialog.dismiss();
  expect(page.url()).toMatch(/\/routes\/new/);
}
