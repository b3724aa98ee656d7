import { type Row } from '../parts/frame.ts';
import { burnGraph } from '../parts/burn.ts';
import { q } from './queries.ts';

export const objective: Row = {
  title: 'Objective',
  panels: [
    burnGraph(q, 'error', {
      title: 'Error budget, burn rate',
      description:
        'How fast failed requests use up what the objective of the route allows. 1: it is used up in exactly 30 days. A short window above a long one: it gets worse.',
    }),
    burnGraph(q, 'latency', {
      title: 'Latency budget, burn rate',
      description:
        'The same for responses that begin later than the objective of the route says, by default 2.5 s.',
    }),
  ],
};
