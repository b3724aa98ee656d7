import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import type { Page } from 'playwright-core';
import { tracesIn } from '../security/secrets/traces.ts';
import { accessibilityFaults } from './harness/axe.ts';
import {
  borrowConsoleWorld,
  BROWSER_START_MS,
  type ConsoleWorld,
} from './harness/console-world.ts';
import { VISIBLE_TO_SCRIPTS } from './harness/visible-to-scripts.ts';

describe('tokens in the console', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await borrowConsoleWorld();
  }, BROWSER_START_MS);
  afterEach(() => world.closePages());
  afterAll(async () => {
    await world.close();
  });

  /** Whom the gateway takes the bearer of the secret for; the status if it refuses it. */
  async function callerOf(secret: string): Promise<unknown> {
    const answer = await world.gateway.admin.withToken(secret).get('/v1/whoami');
    return answer.status === 200 ? answer.resource()['name'] : answer.status;
  }

  async function rotate(page: Page, name: string, grace: string): Promise<string> {
    await act(page, name, 'Rotate secret');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('The old secret stays valid for').selectOption(grace);
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    return takeSecret(page, `New secret of ${name}`);
  }

  /** Chooses an action in the menu of a token. */
  async function act(page: Page, name: string, action: string): Promise<void> {
    await page.getByRole('button', { name: `Actions of ${name}` }).click();
    await page.getByRole('menuitem', { name: action }).click();
  }

  /** Reads the secret, and closes the dialog. */
  async function takeSecret(page: Page, label: string): Promise<string> {
    const secret = await page.getByLabel(label).inputValue();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    return secret;
  }

  it('are created, used, rotated and revoked, and their secrets stay nowhere', async () => {
    const { page, messages, requested } = await world.visit('/tokens');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'New token' }).click();
    const form = page.getByRole('form', { name: 'New token' });
    await form.getByRole('button', { name: 'Create token' }).click();
    await form
      .getByLabel('Name', { exact: true })
      .and(page.locator('[aria-invalid="true"]'))
      .waitFor();
    // No token gets all routes by a slip.
    await form.getByText('Choose at least one route, or all.').waitFor();
    await form.getByLabel('Name', { exact: true }).fill('billing');
    await form.getByRole('checkbox', { name: 'services:read' }).check();
    await form.getByRole('combobox', { name: 'Names of routes' }).fill('invoices');
    await page.getByRole('option', { name: 'invoices (does not exist yet)' }).click();
    await form.getByRole('button', { name: 'Create token' }).click();
    await page.getByText('Copy the secret now').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Copy the secret' }).click();
    await page.getByRole('button', { name: 'Copied the secret' }).waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    const first = await takeSecret(page, 'Secret of billing');
    expect(copied).toBe(first);
    expect(await callerOf(first)).toBe('billing');
    const row = page.getByRole('row', { name: /^billing.*proxy, services:read.*production/ });
    await row.getByText(`${first.slice(0, 8)}…`).waitFor();
    await row.getByText('production').click();
    await page.getByRole('form', { name: 'Edit token billing' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await row.and(page.locator(':focus')).waitFor();

    const second = await rotate(page, 'billing', '1 hour');
    expect(await Promise.all([first, second].map(callerOf))).toEqual(['billing', 'billing']);
    const third = await rotate(page, 'billing', 'It ends at once');
    expect(await callerOf(third)).toBe('billing');
    await eventually(async () => expect(await callerOf(second)).toBe(401));

    await act(page, 'billing', 'Revoke');
    const revoke = page.getByRole('dialog').getByRole('button', { name: 'Revoke' });
    await page.getByLabel('Type billing to confirm').fill('billin');
    expect(await revoke.isDisabled()).toBe(true);
    await page.getByLabel('Type billing to confirm').fill('billing');
    await revoke.click();
    await page.getByRole('row', { name: /^billing/ }).waitFor({ state: 'detached' });
    await eventually(async () => expect(await callerOf(third)).toBe(401));

    const secrets = [first, second, third];
    const state = JSON.stringify(await page.context().storageState({ indexedDB: true }));
    const seen = await page.evaluate<string>(VISIBLE_TO_SCRIPTS);
    const texts = [seen, state, page.url(), ...messages, ...requested];
    const logs = [world.gateway.controlPlane, ...world.gateway.dataPlanes].map(({ logFile }) =>
      readFile(logFile, 'utf8'),
    );
    texts.push(...(await Promise.all(logs)));
    expect(tracesIn(texts.join('\n'), secrets)).toEqual([]);
  });

  it('can be looked at but not changed without the scope, and the button says why', async () => {
    const { token } = await world.gateway.tokenClient({ name: 'looker', scopes: ['tokens:read'] });
    const { page } = await world.visit('/tokens', token);
    const create = page.getByRole('button', { name: 'New token' });
    await create.hover();
    await page.getByText('Your token lacks the scope tokens:write.').waitFor();
    expect(await create.isDisabled()).toBe(true);
  });

  it('are copied without TLS too, where browsers offer only the older way', async () => {
    const { page } = await world.visit('/tokens');
    await page.evaluate('delete Navigator.prototype.clipboard');
    await page.getByRole('button', { name: 'New token' }).click();
    const form = page.getByRole('form', { name: 'New token' });
    await form.getByLabel('Name', { exact: true }).fill('without-tls');
    await form.getByRole('radio', { name: 'All routes' }).check();
    await form.getByRole('button', { name: 'Create token' }).click();
    expect(await page.evaluate('navigator.clipboard')).toBeUndefined();
    await page.getByRole('button', { name: 'Copy the secret' }).click();
    await page.getByRole('button', { name: 'Copied the secret' }).waitFor();
    const secret = await takeSecret(page, 'Secret of without-tls');
    await page.goto(`${world.url}/routes`);
    const search = page.getByLabel('Search routes');
    await search.focus();
    await page.keyboard.press('Control+V');
    // The field takes names, which are shorter.
    expect(secret).toContain(await search.inputValue());
    expect(await search.inputValue()).toMatch(/^gwt_/);
  });
});
