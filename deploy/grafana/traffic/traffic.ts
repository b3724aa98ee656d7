import { consolePage } from '../parts/console.ts';
import { framed } from '../parts/frame.ts';
import { DATA_PLANES, ENVIRONMENTS } from '../parts/variables.ts';
import { callers } from './callers.ts';
import { durations } from './durations.ts';
import { now } from './now.ts';
import { q } from './queries.ts';
import { requests } from './requests.ts';

export const traffic = () =>
  framed({
    uid: 'gateway-traffic',
    title: 'traffic',
    description: 'Are callers served, how fast, and what is refused?',
    variables: [ENVIRONMENTS, DATA_PLANES],
    links: [consolePage('Requests in the console', '/requests')],
    versionsOf: q,
    rows: [now, requests, durations, callers],
  });
