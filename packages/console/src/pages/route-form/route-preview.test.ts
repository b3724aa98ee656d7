import { expect, it } from '@jest/globals';
import { NEW_ROUTE } from './route-draft.ts';
import { routeManifest } from './route-preview.ts';

const nameOf = (id: string) => `name of ${id}`;

it('has the names of services, no defaults, and the one setting that an apply would keep', () => {
  const draft = { ...NEW_ROUTE, name: 'charges', service_id: 'svc_1', retry_count: 0 };
  expect(routeManifest('production', draft, nameOf)).toEqual({
    environment: 'production',
    routes: [{ name: 'charges', service: 'name of svc_1', retry_count: 0, locations: 'map' }],
  });
});

it('names the services of versions and of the mirror', () => {
  const draft = {
    ...NEW_ROUTE,
    name: 'charges',
    versions: [
      { name: 'v1', service_id: 'svc_1', weight: 90 },
      { name: 'v2', service_id: null, weight: 10 },
    ],
    mirror: { service_id: 'svc_3', percent: 5, max_body_bytes: 65_536, pass_credentials: false },
  };
  expect(routeManifest('production', draft, nameOf)).toMatchObject({
    routes: [
      {
        versions: [
          { name: 'v1', service: 'name of svc_1', weight: 90 },
          { name: 'v2', service: null, weight: 10 },
        ],
        mirror: { service: 'name of svc_3', percent: 5 },
      },
    ],
  });
});

it('can be shown of a form in which nothing was typed', () => {
  expect(routeManifest('production', NEW_ROUTE, nameOf)).toEqual({
    environment: 'production',
    routes: [{ name: '', locations: 'map' }],
  });
});
