import { consolePage } from '../parts/console.ts';
import { framed } from '../parts/frame.ts';
import { DATA_PLANES, SERVICES } from '../parts/variables.ts';
import { dns } from './dns.ts';
import { health } from './health.ts';
import { load } from './load.ts';
import { now } from './now.ts';

export const upstreams = () =>
  framed({
    uid: 'gateway-upstreams',
    title: 'upstream health',
    description: 'Which services are unhealthy or overloaded, and since when?',
    variables: [SERVICES, DATA_PLANES],
    links: [consolePage('Services in the console', '/services')],
    rows: [now, health, load, dns],
  });
