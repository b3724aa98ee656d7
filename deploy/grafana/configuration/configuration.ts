import { consolePage } from '../parts/console.ts';
import { framed } from '../parts/frame.ts';
import { PROCESSES } from '../parts/variables.ts';
import { management } from './management.ts';
import { now } from './now.ts';
import { publishing } from './publishing.ts';
import { q } from './queries.ts';
import { rollout } from './rollout.ts';

export const configuration = () =>
  framed({
    uid: 'gateway-configuration',
    title: 'configuration and rollout',
    description: 'Do changes reach every data plane, and how fast?',
    variables: [PROCESSES],
    links: [
      consolePage('Versions in the console', '/configuration'),
      consolePage('Data planes in the console', '/data-planes'),
    ],
    versionsOf: q,
    rows: [now, rollout, publishing, management],
  });
