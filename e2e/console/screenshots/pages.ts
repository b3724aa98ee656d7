import type { Page } from 'playwright-core';
import { unfold } from '../harness/fold.ts';
import { choose, press, type Picture } from './picture.ts';
import type { Scene } from './scene.ts';
import { dialogPictures } from './dialogs.ts';
import { SIGN_IN_PICTURES, statePictures } from './states.ts';

async function openPalette(page: Page, text = ''): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to' }).fill(text);
}

async function pointAtChart(page: Page): Promise<void> {
  await page.getByRole('img', { name: /^Requests over time/ }).hover();
}

/** An address at which nothing listens: the port of discard. */
async function testAddress(page: Page): Promise<void> {
  await page.getByRole('textbox', { name: 'URL', exact: true }).fill('https://127.0.0.1:9');
  await press('Test connection')(page);
  await page.getByRole('status', { name: 'Results of the test' }).waitFor();
}

/** Every page of the console, and what opens in it. */
export function picturesOf(scene: Scene): readonly Picture[] {
  return [
    ...SIGN_IN_PICTURES,
    { name: 'overview', path: '/overview?period=24h' },
    { name: 'overview-live', path: '/overview' },
    { name: 'overview-empty', path: '/overview?environment=development' },
    { name: 'overview-pointed', path: '/overview?period=24h', prepare: pointAtChart },
    { name: 'services', path: '/services' },
    { name: 'services-failing', path: '/services?status=failing' },
    { name: 'services-none', path: '/services?search=nothing-like-this' },
    { name: 'service', path: `/services/${scene.serviceId}` },
    {
      name: 'service-delete',
      path: `/services/${scene.serviceId}`,
      prepare: choose('More actions', 'Delete'),
    },
    { name: 'routes', path: '/routes' },
    { name: 'routes-worst', path: '/routes?order=-error_rate&status=active' },
    { name: 'route', path: `/routes/${scene.routeId}` },
    { name: 'route-day', path: `/routes/${scene.splitId}?period=24h` },
    { name: 'route-policies', path: `/routes/${scene.routeId}?tab=policies` },
    { name: 'route-versions', path: `/routes/${scene.splitId}?tab=versions` },
    {
      name: 'route-promote',
      path: `/routes/${scene.splitId}?tab=versions`,
      prepare: press('Promote canary'),
    },
    {
      name: 'route-history',
      path: `/routes/${scene.routeId}?tab=history`,
      async prepare(page) {
        await page.getByRole('button', { name: 'updated' }).first().click();
      },
    },
    {
      name: 'route-explain',
      path: `/routes/${scene.routeId}?tab=explain`,
      async prepare(page) {
        await page.getByRole('button', { name: 'Explain' }).click();
        await page.getByRole('region', { name: 'Explanation' }).waitFor();
      },
    },
    {
      name: 'route-explain-refused',
      path: `/routes/${scene.routeId}?tab=explain`,
      async prepare(page) {
        await page.getByLabel('Headers', { exact: true }).fill('bad header');
        await page.getByRole('button', { name: 'Explain' }).click();
        await page.getByRole('alert').waitFor();
      },
    },
    ...sendPictures(scene),
    ...formPictures(scene),
    { name: 'requests', path: '/requests' },
    { name: 'requests-filtered', path: '/requests?method=POST&status=503&period=7d' },
    { name: 'requests-open', path: `/requests?live=false&open=${scene.retriedId}` },
    { name: 'requests-facet', path: '/requests?live=false', prepare: press('Route') },
    { name: 'requests-invalid', path: '/requests?live=false&status=abc' },
    { name: 'requests-none', path: '/requests?route=nowhere&failed=true' },
    {
      name: 'requests-paused',
      path: '/requests?period=15m',
      async prepare(page) {
        await page.getByRole('row').nth(4).hover();
        await page.getByRole('button', { name: /new request/ }).waitFor();
      },
    },
    { name: 'request', path: `/requests/${scene.retriedId}` },
    { name: 'request-refused', path: `/requests/${scene.refusedId}` },
    { name: 'callers', path: '/callers?period=24h' },
    { name: 'callers-near-quota', path: '/callers?order=quota_used' },
    { name: 'request-failed', path: `/requests/${scene.failedId}` },
    { name: 'tokens', path: '/tokens' },
    { name: 'token-new', path: '/tokens', prepare: press('New token') },
    {
      name: 'token-new-refused',
      path: '/tokens',
      async prepare(page) {
        await press('New token')(page);
        const dialog = page.getByRole('dialog');
        await dialog.getByRole('button', { name: /^(Save|Create)/ }).click();
        await dialog.getByRole('alert').waitFor();
      },
    },
    { name: 'token-menu', path: '/tokens', prepare: press('Actions of billing') },
    {
      name: 'token-secret',
      path: '/tokens',
      async prepare(page) {
        await press('Actions of billing')(page);
        await page.getByRole('menuitem', { name: 'Rotate secret' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
        await page.getByText('Copy the secret now').waitFor();
      },
    },
    { name: 'data-planes', path: '/data-planes' },
    { name: 'data-plane', path: '/data-planes/data-plane-2' },
    { name: 'configuration', path: '/configuration' },
    { name: 'configuration-version', path: '/configuration/10?against=current' },
    { name: 'configuration-roll-back', path: '/configuration/10/roll-back' },
    { name: 'audit', path: '/audit' },
    { name: 'audit-filtered', path: '/audit?type=route&period=24h', prepare: press('Who') },
    { name: 'environments', path: '/environments' },
    { name: 'empty', path: '/routes?environment=development' },
    { name: 'not-found', path: '/nowhere' },
    { name: 'palette', path: '/overview', prepare: openPalette },
    { name: 'palette-found', path: '/overview', prepare: (page) => openPalette(page, 'or') },
    ...dialogPictures(scene),
    ...statePictures(scene),
    { name: 'account', path: '/overview', prepare: press('admin') },
    { name: 'keys', path: '/services', prepare: (page) => page.keyboard.press('?') },
  ];
}

/** The panel that sends requests: before it is used, with a response, with a refusal, and where it asks. */
function sendPictures(scene: Scene): readonly Picture[] {
  const path = `/routes/${scene.routeId}`;
  const open = press('Send a request');
  const sent = async (page: Page, target: string) => {
    await open(page);
    await page.getByLabel('Path and query').fill(target);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('region', { name: 'Response' }).waitFor();
    await page.getByRole('group', { name: 'Record' }).waitFor();
  };
  return [
    { name: 'send', path, prepare: open },
    { name: 'send-response', path, prepare: (page) => sent(page, '/17?full=1') },
    {
      name: 'send-explain',
      path,
      async prepare(page) {
        await sent(page, '/17');
        await page.getByRole('tab', { name: 'Explain' }).last().click();
        await page.getByRole('region', { name: 'Explanation' }).waitFor();
      },
    },
    {
      name: 'send-asks',
      path,
      async prepare(page) {
        await open(page);
        await page.getByLabel('Method', { exact: true }).selectOption('POST');
        await page.getByLabel('Body', { exact: true }).fill('{"amount":1250,"currency":"EUR"}');
        await page.getByRole('button', { name: 'Send', exact: true }).click();
        await page.getByRole('button', { name: 'Send POST' }).waitFor();
      },
    },
    { name: 'send-again', path: `/requests/${scene.refusedId}`, prepare: press('Send again') },
  ];
}

/** The forms: empty, refused, filled with sections unfolded, with their preview, and of what exists. */
function formPictures(scene: Scene): readonly Picture[] {
  const fillRoute = async (page: Page) => {
    await page.getByLabel('Name', { exact: true }).fill('refunds');
    await page.getByRole('combobox', { name: 'Service' }).click();
    await page.getByRole('option', { name: 'payments', exact: true }).click();
    await unfold(page, 'Quota');
    await page.getByLabel('Requests', { exact: true }).fill('600');
    await page.getByLabel('Counted for').selectOption('Each caller');
  };
  return [
    { name: 'service-new', path: '/services/new' },
    { name: 'service-new-refused', path: '/services/new', prepare: press('Create service') },
    { name: 'service-new-tested', path: '/services/new', prepare: testAddress },
    {
      name: 'service-edit-tested',
      path: `/services/${scene.serviceId}/edit`,
      async prepare(page) {
        await press('Test connection')(page);
        await page.getByRole('status', { name: 'Results of the test' }).waitFor();
      },
    },
    { name: 'service-edit', path: `/services/${scene.serviceId}/edit` },
    {
      name: 'service-edit-open',
      path: `/services/${scene.serviceId}/edit`,
      prepare: press('Unfold all'),
    },
    { name: 'route-new', path: '/routes/new' },
    { name: 'route-new-refused', path: '/routes/new', prepare: press('Create route') },
    { name: 'route-new-filled', path: '/routes/new', prepare: fillRoute },
    {
      name: 'route-new-preview',
      path: '/routes/new',
      async prepare(page) {
        await fillRoute(page);
        const open = page.getByRole('button', { name: 'Preview' });
        if (await open.isVisible()) await open.click();
        await page.getByRole('tab', { name: 'curl' }).click();
        await page.getByRole('region', { name: 'curl command' }).waitFor();
      },
    },
    { name: 'route-edit', path: `/routes/${scene.routeId}/edit` },
    { name: 'route-edit-split', path: `/routes/${scene.splitId}/edit` },
    {
      name: 'route-edit-versions',
      path: `/routes/${scene.splitId}/edit`,
      prepare: press('Add a version'),
    },
    {
      name: 'route-edit-refused',
      path: `/routes/${scene.splitId}/edit`,
      async prepare(page) {
        await page.getByRole('button', { name: 'Unfold all' }).click();
        await page.getByLabel('Deadline', { exact: true }).fill('soon');
        await page.getByLabel('Version name').first().fill('Stable One');
        await page.keyboard.press('ControlOrMeta+Enter');
        await page.getByRole('alert').waitFor();
      },
    },
    { name: 'route-edit-field', path: `/routes/${scene.routeId}/edit#timeout_ms` },
    {
      name: 'route-edit-open',
      path: `/routes/${scene.routeId}/edit`,
      prepare: press('Unfold all'),
    },
  ];
}
