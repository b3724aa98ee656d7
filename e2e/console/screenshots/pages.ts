import type { Page } from 'playwright-core';
import type { Scene } from './scene.ts';

/** A picture: the name of its file, the address of the page, and what is done there first. */
export interface Picture {
  readonly name: string;
  readonly path: string;
  readonly prepare?: (page: Page) => Promise<void>;
}

const press = (name: string) => (page: Page) => page.getByRole('button', { name }).first().click();

/** Every page of the console, and what opens in it. */
export function picturesOf(scene: Scene): readonly Picture[] {
  return [
    { name: 'overview', path: '/overview?period=24h' },
    { name: 'overview-live', path: '/overview' },
    { name: 'services', path: '/services' },
    { name: 'service', path: `/services/${scene.serviceId}` },
    { name: 'service-new', path: '/services/new' },
    { name: 'service-new-refused', path: '/services/new', prepare: press('Save') },
    { name: 'service-edit', path: `/services/${scene.serviceId}/edit` },
    { name: 'service-delete', path: `/services/${scene.serviceId}`, prepare: press('Delete') },
    { name: 'routes', path: '/routes' },
    { name: 'route', path: `/routes/${scene.routeId}` },
    { name: 'route-split', path: `/routes/${scene.splitId}` },
    {
      name: 'route-explain',
      path: `/routes/${scene.routeId}?tab=explain`,
      async prepare(page) {
        await page.getByRole('button', { name: 'Explain' }).click();
        await page.getByRole('region', { name: 'Explanation' }).waitFor();
      },
    },
    { name: 'route-new', path: '/routes/new' },
    { name: 'route-new-refused', path: '/routes/new', prepare: press('Save') },
    { name: 'route-edit', path: `/routes/${scene.routeId}/edit` },
    { name: 'requests', path: '/requests' },
    { name: 'requests-filtered', path: '/requests?method=POST&status=503' },
    { name: 'request', path: `/requests/${scene.retriedId}` },
    { name: 'request-refused', path: `/requests/${scene.refusedId}` },
    { name: 'callers', path: '/callers?period=24h' },
    { name: 'callers-near-quota', path: '/callers?order=quota_used' },
    { name: 'tokens', path: '/tokens' },
    { name: 'token-new', path: '/tokens', prepare: press('New token') },
    { name: 'data-planes', path: '/data-planes' },
    { name: 'configuration', path: '/configuration' },
    { name: 'configuration-version', path: '/configuration/10?against=current' },
    { name: 'configuration-roll-back', path: '/configuration/10/roll-back' },
    { name: 'audit', path: '/audit' },
    { name: 'environments', path: '/environments' },
    { name: 'empty', path: '/routes?environment=development' },
    { name: 'not-found', path: '/nowhere' },
    { name: 'keys', path: '/services', prepare: (page) => page.keyboard.press('?') },
  ];
}
