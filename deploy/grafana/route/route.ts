import { framed } from '../parts/frame.ts';
import { ENVIRONMENTS, ROUTE } from '../parts/variables.ts';
import { now } from './now.ts';
import { objective } from './objective.ts';
import { requests } from './requests.ts';
import { versions } from './versions.ts';

export const route = () =>
  framed({
    uid: 'gateway-route',
    title: 'one route',
    description: 'What do callers of one route get, and how fast?',
    variables: [{ ...ENVIRONMENTS, single: true }, ROUTE],
    rows: [now, objective, versions, requests],
  });
