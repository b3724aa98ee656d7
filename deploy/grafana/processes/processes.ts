import { consolePage } from '../parts/console.ts';
import { framed } from '../parts/frame.ts';
import { PROCESSES } from '../parts/variables.ts';
import { certificates } from './certificates.ts';
import { losses } from './losses.ts';
import { readiness } from './readiness.ts';
import { use } from './use.ts';

export const processes = () =>
  framed({
    uid: 'gateway-processes',
    title: 'processes',
    description: 'Are the processes ready, and do they have enough CPU time, memory and files?',
    variables: [PROCESSES],
    links: [consolePage('Data planes in the console', '/data-planes')],
    rows: [readiness, use, losses, certificates],
  });
