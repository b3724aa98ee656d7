import { REQUESTS_OF_ROUTE } from '../parts/console.ts';
import { framed } from '../parts/frame.ts';
import { ENVIRONMENTS, ROUTE_WITH_VERSIONS } from '../parts/variables.ts';
import { allRoutes } from './all-routes.ts';
import { now } from './now.ts';
import { overTime } from './over-time.ts';
import { q } from './queries.ts';

export const canary = () =>
  framed({
    uid: 'gateway-canary',
    title: 'canaries',
    description: 'Is a new version of a route as good as the others?',
    variables: [{ ...ENVIRONMENTS, single: true }, ROUTE_WITH_VERSIONS],
    links: [REQUESTS_OF_ROUTE],
    versionsOf: q,
    rows: [now, overTime, allRoutes],
  });
