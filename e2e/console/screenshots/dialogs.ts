import { choose, press, type Picture } from './picture.ts';
import type { Scene } from './scene.ts';

/** What asks and what opens on the pages of routes, tokens, changes and environments, and their lists without a match. */
export function dialogPictures(scene: Scene): readonly Picture[] {
  const route = `/routes/${scene.routeId}`;
  return [
    { name: 'route-disable', path: route, prepare: press('Disable') },
    { name: 'route-delete', path: route, prepare: choose('More actions', 'Delete') },
    { name: 'route-no-versions', path: `${route}?tab=versions` },
    {
      name: 'route-revert',
      path: `${route}?tab=history`,
      prepare: press('Revert the change of route charges'),
    },
    {
      name: 'route-moved',
      path: `/routes/${scene.splitId}?tab=versions`,
      prepare: press('50 %'),
    },
    { name: 'token-edit', path: '/tokens', prepare: choose('Actions of billing', 'Edit') },
    {
      name: 'token-rotate',
      path: '/tokens',
      prepare: choose('Actions of billing', 'Rotate secret'),
    },
    { name: 'token-revoke', path: '/tokens', prepare: choose('Actions of billing', 'Revoke') },
    { name: 'tokens-none', path: '/tokens?search=nothing-like-this' },
    { name: 'configuration-one', path: '/configuration/27' },
    { name: 'audit-open', path: '/audit?type=route', prepare: press('updated') },
    { name: 'audit-none', path: '/audit?type=environment&period=24h&resource=env_none' },
    { name: 'environment-new', path: '/environments', prepare: press('New environment') },
    {
      name: 'environment-delete',
      path: '/environments',
      prepare: choose('Actions for development', 'Delete'),
    },
  ];
}
