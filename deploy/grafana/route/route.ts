import { REQUESTS_OF_ROUTE } from '../parts/console.ts';
import { framed } from '../parts/frame.ts';
import { ENVIRONMENTS, ROUTE } from '../parts/variables.ts';
import { now } from './now.ts';
import { objective } from './objective.ts';
import { q } from './queries.ts';
import { requests } from './requests.ts';
import { versions } from './versions.ts';

const VERSIONS_OF_ROUTE = {
  title: 'Its versions',
  url: '/d/gateway-canary?${environment:queryparam}&${route:queryparam}&${__url_time_range}',
};

export const route = () =>
  framed({
    uid: 'gateway-route',
    title: 'one route',
    description: 'What do callers of one route get, and how fast?',
    variables: [{ ...ENVIRONMENTS, single: true }, ROUTE],
    links: [REQUESTS_OF_ROUTE, VERSIONS_OF_ROUTE],
    versionsOf: q,
    rows: [now, objective, versions, requests],
  });
